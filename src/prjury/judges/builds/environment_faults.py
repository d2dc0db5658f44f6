"""What tools say when the machine or the network fails them, and what to do about it: the table.

Strict about who says it: a version that does not fit is said in the tool's own words; a download
that failed counts only where a package manager says so, together with one of the known causes. A
404 is none of them: the manifest may name what does not exist.
"""

from __future__ import annotations

from dataclasses import dataclass

_JAVA = "install that JDK and name it in JAVA_HOME (add actions/setup-java)"
_MAVEN = "install that Maven, or check in its wrapper (`mvn wrapper:wrapper`)"
_RUST = "install that toolchain (`rustup toolchain install`), or pin it in rust-toolchain.toml"
_GO = "install that Go (add actions/setup-go), or allow its download (GOTOOLCHAIN=auto)"
_PYTHON = "install that Python before the build (add actions/setup-python, `uv python install`)"
_NODE = "install that Node (add actions/setup-node), or the package manager's version that is named"
_GIT = "install git, and check the project out with its history and tags where it asks for them"
_VERSION = (
    "tell the build its version (SETUPTOOLS_SCM_PRETEND_VERSION and the like, in `build: command`)"
)
_DISK = "free disk space, or use a larger runner"
_SERVICE = "start that service beside the build (`services:` of the workflow's job)"
_BROWSER = (
    "install the browser that the tests open before the build (`npx playwright install`, "
    "browser-actions/setup-chrome), or name a script that opens none (`build: {command: …}`)"
)
_PUPPETEER = (
    "let the machine reach where the browser is downloaded from, or set PUPPETEER_SKIP_DOWNLOAD=1 "
    "where no test opens one"
)
_JAVADOC = "leave the links to other pages out of the build (`-Dmaven.javadoc.skip=true`)"
_LATER = "run it again later, or name a mirror (PIP_INDEX_URL, NPM_CONFIG_REGISTRY, GOPROXY, …)"
_LIMIT = "run it again later, or name a mirror or cache of your own: this one limits requests"
_RIGHTS = (
    "use an index that needs no credentials, since builds get none, or take the result of a build "
    "elsewhere (`build: {from: evidence}` or `{from: checks}`)"
)
_TLS = (
    "name the authority that signs for this network in SSL_CERT_FILE, REQUESTS_CA_BUNDLE or "
    "NODE_EXTRA_CA_CERTS, for Java in its key store"
)
_DNS = "correct the address of the registry or the name service, or allow the network (`sandbox`)"
_PROXY = "correct HTTPS_PROXY, HTTP_PROXY and NO_PROXY, or start the proxy that they name"
CONNECT = "check the network, the registry, and the proxy if HTTPS_PROXY names one; run it again"
_OFFLINE = "allow the network (`sandbox: {network: true}`), or download what it needs beforehand"
SUBMODULE = (
    "builds see no submodules: take the result of a build elsewhere (`build: {from: evidence}` or "
    "`{from: checks}`), or a system's own copy of what is missing (`build: {command: …}`)"
)
OTHERWISE = "see what the step printed"


@dataclass(frozen=True, slots=True)
class EnvironmentFault:
    """A message, as it is found anywhere in a line, and what to do about it.

    Attributes:
        tool: whose version is meant; the message names the wanted one as ``want`` and perhaps the
            one that is there as ``here``.
        passing: whether trying again may help.
    """

    message: str
    remedy: str
    tool: str = ""
    passing: bool = False


#: Ports of databases, queues and caches that tests expect beside them.
_PORTS = r"(?:1433|1521|2181|3306|4222|5432|5672|6379|8529|9000|9042|9092|9200|11211|26257|27017)"
#: Programs of the machine; others may be misspelt, or the tree's own.
_PROGRAMS = (
    r"(?:hg|svn|javac?|mvn|gradle|python3?|pip3?|node|npm|npx|cmake|ctest|make|ninja|meson|gcc|g\+\+"
    r"|cc|c\+\+|clang(?:\+\+)?|go|cargo|rustc|ruby|bundle|php|composer|docker|curl|wget|protoc"
    r"|pkg-config|autoreconf|autoconf|automake|libtoolize|bison|flex|tar|unzip|dotnet|swift)"
)

NO_SERVICE = EnvironmentFault(
    rf"[\w.]*(?:Error|Exception)\b.*(?:port |:){_PORTS}\b.*[Cc]onnection refused"
    rf"|ECONNREFUSED \S+:{_PORTS}\b|connecting to \S+:{_PORTS}\. Connection refused"
    rf"|dial tcp \S+:{_PORTS}: connect: connection refused"
    rf"|[Cc]onnection to \S*:{_PORTS} refused|server on '[\w.-]+(?::{_PORTS})?' \(111\)"
    rf"|port {_PORTS} failed: Connection refused",
    _SERVICE,
    passing=True,
)

#: What a tool says by itself, in one line.
MESSAGES = (
    EnvironmentFault(r"error: release version (?P<want>\d+) not supported", _JAVA, "JDK"),
    EnvironmentFault(r"invalid (?:target|source) release: (?P<want>[\d.]+)", _JAVA, "JDK"),
    EnvironmentFault(r"(?:Source|Target) option \d+ is no longer supported", _JAVA),
    EnvironmentFault(
        r"Unable to find javadoc command: The environment variable JAVA_HOME is not correctly set",
        "name the JDK in JAVA_HOME (add actions/setup-java)",
    ),
    EnvironmentFault(
        r"Detected JDK [Vv]ersion:? (?P<here>.*?) (?:\(JAVA_HOME=.*\) )?is not in the allowed "
        r"range (?P<want>\S+?)\.?$",
        _JAVA,
        "JDK",
    ),
    EnvironmentFault(
        r"Detected JDK .* is version (?P<here>\S+) which is not in the allowed "
        r"range (?P<want>\S+?)\.?$",
        _JAVA,
        "JDK",
    ),
    EnvironmentFault(
        r"compiled by a more recent version of the Java Runtime \(class file version "
        r"(?P<classes>\d+)",
        _JAVA,
        "JDK",
    ),
    EnvironmentFault(
        r"class file has wrong version (?P<classes>\d+)\.\d(?:, should be (?P<should>\d+))?",
        _JAVA,
        "JDK",
    ),
    EnvironmentFault(r"requires JVM (?P<want>\d+) or later to run", _JAVA, "JDK"),
    EnvironmentFault(r"requires at least JVM runtime version (?P<want>\d+)", _JAVA, "JDK"),
    EnvironmentFault(r"Unknown JVM target version: (?P<want>[\d.]+)", _JAVA, "JDK"),
    EnvironmentFault(
        r"annot find matching toolchain definitions for the following toolchain types:", _JAVA
    ),
    EnvironmentFault(r"Unsupported class file major version (?P<classes>\d+)", _JAVA, "JDK"),
    EnvironmentFault(r"Cannot find a Java installation on your machine", _JAVA),
    EnvironmentFault(r"No matching toolchains? found for requested specification", _JAVA),
    EnvironmentFault(r"The JAVA_HOME environment variable is not defined correctly", _JAVA),
    EnvironmentFault(
        r"Detected Maven Version: (?P<here>\S+) is not in the allowed range (?P<want>\S+?)\.?$",
        _MAVEN,
        "Maven",
    ),
    EnvironmentFault(
        r"error: rustc (?P<here>\S+) is not supported by the following packages?:"
        r"(?:.* requires rustc (?P<want>\S+))?",
        _RUST,
        "Rust",
    ),
    EnvironmentFault(
        r"requires rustc (?P<want>\S+) or newer, while the currently active rustc version is "
        r"(?P<here>\S+)",
        _RUST,
        "Rust",
    ),
    EnvironmentFault(r"requires rustc \S+ or newer, while the currently active rustc", _RUST),
    EnvironmentFault(r"^error: toolchain '(?P<want>[^']+)' is not installed", _RUST, "Rust"),
    EnvironmentFault(
        r"^go: .*requires go >= (?P<want>\S+) \(running go (?P<here>[^;)]+)", _GO, "Go"
    ),
    EnvironmentFault(
        r"^go: download go(?P<want>[\d.]+) for \S+: toolchain not available", _GO, "Go"
    ),
    EnvironmentFault(
        r"requires a different Python: (?P<here>\S+) not in (?P<want>'[^']*')", _PYTHON, "Python"
    ),
    EnvironmentFault(
        r"No interpreter found for Python (?P<want>\S.*?)(?: in .*)?$", _PYTHON, "Python"
    ),
    EnvironmentFault(
        r"interpreter resolved to Python (?P<here>\S+), which is incompatible with the project's "
        r"Python requirement: `(?P<want>[^`]+)`",
        _PYTHON,
        "Python",
    ),
    EnvironmentFault(r"interpreter resolved to Python \S+, which is incompatible", _PYTHON),
    EnvironmentFault(
        r"urrent Python version \((?P<here>\S+)\) is not allowed by the project "
        r"\((?P<want>[^)]+)\)",
        _PYTHON,
        "Python",
    ),
    EnvironmentFault(
        r"^npm (?:ERR!|error) notsup (?:Required: |.*wanted: ).*?\"node\":\"(?P<want>[^\"]+)\"",
        _NODE,
        "Node",
    ),
    EnvironmentFault(r"^npm (?:ERR!|error) notsup Required: ", _NODE),
    EnvironmentFault(
        r'The engine "(?P<tool>\w+)" is incompatible with this module\. Expected version '
        r'"(?P<want>[^"]+)"\. Got "(?P<here>[^"]+)"',
        _NODE,
        "Node",
    ),
    EnvironmentFault(r'The engine "\w+" is incompatible with this module', _NODE),
    EnvironmentFault(r"ERR_PNPM_UNSUPPORTED_ENGINE", _NODE),
    EnvironmentFault(
        r"^Error: Corepack cannot download the latest stable version of ",
        "name the package manager's version in package.json (`packageManager`), or install it",
    ),
    EnvironmentFault(
        r"(?:^|: )Error: (?:No compatible signature found in package metadata"
        r"|Cannot find matching keyid)",
        "update Corepack (`npm install --global corepack@latest`), or install the package manager "
        "without it",
    ),
    EnvironmentFault(r"^error NETSDK1045: .*", "install that .NET SDK (add actions/setup-dotnet)"),
    EnvironmentFault(
        r"Your Ruby version is (?P<here>\S+), but your Gemfile specified (?P<want>\S+)",
        "install that Ruby (add ruby/setup-ruby)",
        "Ruby",
    ),
    EnvironmentFault(
        r"requires php (?P<want>\S+) (?:-> |but )your php version \((?P<here>\S+?)[);]",
        "install that PHP (add shivammathur/setup-php)",
        "PHP",
    ),
    EnvironmentFault(
        r"^\s*CMake (?P<want>\S+) or higher is required\. +You are running version "
        r"(?P<here>\S+)",
        "install that CMake (`pip install cmake`)",
        "CMake",
    ),
    EnvironmentFault(
        r"Meson version is (?P<here>\S+) but project requires (?P<want>\S+)",
        "install that Meson (`pip install meson`)",
        "Meson",
    ),
    EnvironmentFault(
        r"^\*\* \(Mix\) You're trying to run :\w+ on Elixir v(?P<here>\S+) but .* supports only "
        r"Elixir (?P<want>.+)$",
        "install that Elixir (add erlef/setup-beam)",
        "Elixir",
    ),
    EnvironmentFault(
        r"using Swift tools version (?P<want>\S+) but the installed version is (?P<here>\S+)",
        "install that Swift (add swift-actions/setup-swift)",
        "Swift",
    ),
    EnvironmentFault(
        r"^A compatible (?:installed )?\.NET SDK .*was not found",
        "install that .NET SDK (add actions/setup-dotnet)",
    ),
    EnvironmentFault(r"^Python interpreter (?P<want>\S+) not found", _PYTHON, "Python"),
    EnvironmentFault(r"^No Python that satisfies the requirement", _PYTHON),
    EnvironmentFault(r"^pyenv: version [`'](?P<want>[^']+)' is not installed", _PYTHON, "Python"),
    EnvironmentFault(
        r"the current Python version \((?P<here>\S+)\) does not satisfy Python(?P<want>\S+)",
        _PYTHON,
        "Python",
    ),
    EnvironmentFault(
        r"^escript: exception error: undefined function \w+:main/1",
        "install a program that was built for this Erlang, such as a rebar3 of this release's time",
    ),
    EnvironmentFault(
        r"ERROR: (?:Problem encountered: )?(?:Program )?'?(?P<missing>[\w.+-]+)'? "
        r"(?:is required to build|not found or not executable)",
        "install it, or turn off what needs it",
    ),
    EnvironmentFault(r"\bgit: (?:command )?not found$", _GIT),
    EnvironmentFault(
        rf"^(?:\S+: )*(?:line )?(?:\d+: )?(?P<missing>{_PROGRAMS}): (?:command )?not found$",
        "install it, or build where it is installed",
    ),
    EnvironmentFault(r"^ERROR: Cannot find command 'git'", _GIT),
    EnvironmentFault(r'exec: "git": executable file not found', _GIT),
    EnvironmentFault(r"^FileNotFoundError: \[Errno 2\] No such file or directory: 'git'$", _GIT),
    EnvironmentFault(r"^npm (?:ERR!|error) (?:enoent )?.*\bspawn git\b", _GIT),
    EnvironmentFault(r"Git executable not found\b", _GIT),
    EnvironmentFault(r"^fatal: not a git repository\b", _VERSION),
    EnvironmentFault(r"LookupError: .*setuptools-scm was unable to detect version", _VERSION),
    EnvironmentFault(
        r"\bNo space left on device(?: \(os error 28\)|['\")\]]*)?(?: -> \[Help \d\])?\.?$", _DISK
    ),
    EnvironmentFault(r"^npm (?:ERR!|error) (?:code )?ENOSPC\b|\bENOSPC: no space left", _DISK),
    EnvironmentFault(r"\bDisk quota exceeded\b", _DISK),
    EnvironmentFault(r"(?:\berror(?:: | - )|\[ERROR\] )Error fetching (?:URL|link): ", _JAVADOC),
    EnvironmentFault(
        r"browserType\.launch: Executable doesn't exist|Could not find (?:Chrome|Firefox) \(ver"
        r"|No binary for \w+ browser on your platform|Cypress binary is missing"
        r"|(?:cannot find|unable to find) (?:Chrome |Firefox )?binary\b"
        r"|Cannot start \w*(?:Chrome|Firefox)",
        _BROWSER,
    ),
    EnvironmentFault(r"Failed to set up (?:chrome|firefox) v\d\S*", _PUPPETEER, passing=True),
    NO_SERVICE,
)

#: How the lines begin in which a package manager says that a download failed.
DOWNLOADS = (
    r"^WARNING: Retrying \(Retry\(total=0",  # pip
    r"^Could not fetch URL \S+: There was a problem confirming the ssl certificate",
    r"^ERROR: Could not install packages due to an OSError|^ERROR: HTTP error \d+ while getting",
    r"^(?:error: |\s*(?:[×✗]|[├╰]─?▶)\s*)(?:Request failed after|Failed to (?:fetch|download)\b)",
    r"^\s+(?:cause|Caused by): (?:Request failed after|Failed to (?:fetch|download)\b)",  # uv
    r"^All attempts to connect to \S+ failed",  # poetry
    r"^npm (?:ERR!|error) (?:code (?:E|[A-Z]+_)|\d{3} |network |FetchError: |request to )",
    r"^npm (?:ERR!|error) command git |^\s*ssh: Could not resolve hostname",
    r"\bERR_PNPM_(?:\w+_)?(?:FETCH|NO_MATCHING_MIRROR)\w*",
    r"^error (?:Error: |An unexpected error occurred: )|^ResponseError: Request failed ",  # yarn 1
    r"^➤ YN\d{4}: ",
    r"^error: (?:GET \S+ - \d{3}$|\w+ downloading )",  # bun
    r"^(?:Internal )?Error: Error when performing the request to ",  # corepack
    r"^go: \S+: |^go: module |^(?:go: |\S+\.go:\d+:\d+: )(?:downloading )?\S+@v\S+: ",
    r"^error: failed to (?:get|download|fetch|load source|update) ",  # cargo
    r"^error: (?:could not download file from|Import ')",  # rustup, deno
    r"^\[ERROR\] .*Could not (?:transfer|find artifact|resolve|collect)\b",  # Maven
    r"^\[ERROR\] .*could not be resolved",
    r"^\[ERROR\] .*has not been downloaded from it before",
    r"^\s*> Could not (?:GET|HEAD|resolve|download)\b|^Could not install Gradle distribution",
    r"^Exception in thread \"main\" java\.(?:net|io)\.",  # the wrappers of Gradle and Maven
    r"^\[error\] .*download error",  # sbt
    r"Could not fetch specs from |^Network error while fetching |^Could not reach host ",
    r"Unable to download data from |Gem::RemoteFetcher::FetchError",  # RubyGems
    r"curl error \d+ while downloading|file could not be downloaded|php_network_getaddresses",
    r"^\*\* \(Mix\) .*(?:fetch|request)|^Failed to fetch record for ",
    r"error NU1301: ",
    r"^E: Failed to fetch |^\s*fatal: unable to access '",  # apt, git
    r"^curl: \(\d+\) |^wget: unable to |^ERROR: cannot verify ",
)
#: Why, in that line or the next few; the first one that fits.
CAUSES = (
    EnvironmentFault(
        r"\bE?429\b(?: Too Many|\s*$|\)| - )|(?:returned error:|got) 429\b|Too Many Requests",
        _LIMIT,
        passing=True,
    ),
    EnvironmentFault(
        r"\bE40[13]\b|\b40[13] (?:Unauthorized|Forbidden)|(?:got|status:?|code:?) 40[13]\b"
        r"|Authentication required",
        _RIGHTS,
    ),
    EnvironmentFault(
        r"\bE5\d\d\b|\b5\d\d (?:Service|Bad|Internal|Gateway|Server)|FETCH_5\d\d"
        r"|(?:got|status:?|code:?|Code:| -) 5\d\d\b|HTTP(?:/\S+| error) 5\d\d|Unavailable 5\d\d"
        r"|too many 50\d|returned error: 5\d\d|registry appears to be down",
        _LATER,
        passing=True,
    ),
    EnvironmentFault(
        r"\bproxyconnect\b|ProxyError|Cannot connect to proxy|407 Proxy|[Pp]roxy CONNECT|ERR_PROXY",
        _PROXY,
        passing=True,
    ),
    EnvironmentFault(
        r"[Cc]ertificate|\w*CERT(?:_\w+)?\b|SSLError|SSL routines|PKIX path|x509:|[Tt]LS handshake"
        r"|SSLHandshake|UNABLE_TO_(?:GET|VERIFY)\w*|:tls_alert\b",
        _TLS,
    ),
    EnvironmentFault(
        r"ENOTFOUND|EAI_AGAIN|dns error|DNSResolveFailed|[Cc]ould not resolve host|no such host"
        r"|Name or service not known|nodename nor servname|Temporary failure in name resolution"
        r"|Temporary failure resolving|[Uu]nknown ?[Hh]ost|Could not reach host"
        r"|resolve host address|:nxdomain\b"
        r"|\(https?://(?P<host>[\w.-]+)[^)]*\): (?P=host)(?::? *$| ->)",  # Java's whole message
        _DNS,
        passing=True,
    ),
    EnvironmentFault(
        r"in offline mode|disabled by GOPROXY=off|--offline\b|network is disabled", _OFFLINE
    ),
    EnvironmentFault(
        r"ECONN\w+|ETIMEDOUT|ERR_SOCKET\w*|ENETUNREACH|EHOSTUNREACH|EPIPE"
        r"|[Cc]onnection ?(?:refused|reset|timed out|closed|aborted|broken)"
        r"|[Cc]onnect(?:ion)? timed? ?out|Connection(?:Refused|Closed|Reset)|[Rr]ead timed out"
        r"|[Oo]peration timed out|[Nn]etwork is unreachable|Could not connect|Failed to connect"
        r"|Failure when receiving|error sending request|unexpected EOF|Remote host terminated"
        r"|:e(?:conn\w+|timedout)\b|:failed_connect\b",
        CONNECT,
        passing=True,
    ),
)
