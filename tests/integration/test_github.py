from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from fakes.bare_report import report
from fakes.github import (
    ACTIONS,
    NO_FAULT,
    OCTOCAT,
    READ_ONLY_ACTIONS,
    Account,
    FakeGitHub,
    Fault,
    running,
    side_payload,
)
from fakes.writing import connected
from prjury.errors import PublishError, SourceError, UsageError
from prjury.github.client import Connection, GitHub, RetryBudget
from prjury.github.payload import Tip
from prjury.github.pulls import list_all_or_found_pulls
from prjury.github.repo_client import RepoClient
from prjury.publishers.comment import StickyComment

TOKEN = "ghs_actions"
COMMENTS = r"/issues/7/comments"
ONE_COMMENT = r"/issues/comments/\d+"


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    with running() as server:
        server.add_pull("octo/shop", 7)
        yield server


@pytest.fixture
def connect(fake: FakeGitHub) -> Iterator[Callable[..., GitHub]]:
    opened: list[GitHub] = []

    def make(token: str | None = TOKEN, patience: RetryBudget | None = None) -> GitHub:
        opened.append(hub_of(fake.url, token, patience))
        return opened[-1]

    yield make
    for hub in opened:
        hub.close()


def hub_of(url: str, token: str | None = TOKEN, patience: RetryBudget | None = None) -> GitHub:
    connection = Connection(
        url, token, timeout=5, seconds_between_requests=0, seconds_between_writes=0
    )
    return GitHub(connection, patience or RetryBudget(sleep=lambda _seconds: None))


def body(run: str = "5.1", text: str = "verdict") -> str:
    return f"<!-- prjury:v1 key=k id=default run={run} -->\n## {text}\n"


def publish(hub: GitHub, markdown: str) -> str | None:
    return StickyComment(RepoClient(hub, "octo/shop"), 7, lambda _report: markdown).publish(
        report()
    )


class TestReading:
    def test_a_pull_request(self, connect: Callable[..., GitHub]) -> None:
        facts = connect().pull("octo/shop", 7)
        assert (facts.repo, facts.number, facts.title) == ("octo/shop", 7, "Move the cart")
        assert (facts.base, facts.head) == (Tip("main", "a" * 40), Tip("cart", "b" * 40))
        assert (facts.closed, facts.draft, facts.is_fork) == (False,) * 3

    def test_a_merged_draft_of_a_deleted_fork(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        head = side_payload(fake.url, "ghost/shop", "cart", "b" * 40) | {"repo": None}
        fake.add_pull("octo/shop", 8, state="closed", merged=True, draft=True, head=head, body=None)
        facts = connect().pull("octo/shop", 8)
        assert (facts.closed, facts.draft, facts.is_fork) == (True,) * 3

    def test_none_of_that_number(self, connect: Callable[..., GitHub]) -> None:
        with pytest.raises(SourceError, match=r"octo/shop#9.*404") as caught:
            connect().pull("octo/shop", 9)
        assert caught.value.reason == "not_found"

    def test_bad_gateways_pass(self, fake: FakeGitHub, connect: Callable[..., GitHub]) -> None:
        fake.faults = [Fault("GET", "/pulls/7", times=2)]
        waits: list[float] = []
        patience = RetryBudget(sleep=waits.append, jitter=lambda: 0.0)
        assert connect(patience=patience).pull("octo/shop", 7).number == 7
        assert waits == [1.0, 2.0]

    @pytest.mark.parametrize("text", ["<html>Sign in</html>", '{"number": 7', "[]", '"x"', "{}"])
    def test_what_is_not_githubs_answer(
        self, fake: FakeGitHub, connect: Callable[..., GitHub], text: str
    ) -> None:
        fake.faults = [Fault("GET", "/pulls/7", status=200, body=text)]
        with pytest.raises(SourceError) as caught:
            connect().pull("octo/shop", 7)
        assert caught.value.reason == "bad_response"
        assert "\n" not in str(caught.value)

    def test_nobody_listens(self) -> None:
        with closing(socket.socket()) as taken:
            taken.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{taken.getsockname()[1]}"
            with hub_of(url) as hub, pytest.raises(SourceError) as caught:
                hub.pull("octo/shop", 7)
        assert caught.value.reason == "unreachable"

    def test_a_distant_reset_is_not_waited_for(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + 3000)}
        limited = '{"message": "API rate limit exceeded for installation ID 1."}'
        fake.faults = [Fault("GET", "/pulls/7", 9, status=403, body=limited, headers=headers)]
        waits: list[float] = []
        with pytest.raises(SourceError, match="rate limit") as caught:
            connect(patience=RetryBudget(sleep=waits.append)).pull("octo/shop", 7)
        assert caught.value.reason == "rate_limited"
        assert waits == []
        assert len(fake.requests) == 1

    @pytest.mark.parametrize("status", [403, 429])
    def test_a_short_wait_is_kept(
        self, fake: FakeGitHub, connect: Callable[..., GitHub], status: int
    ) -> None:
        limited = '{"message": "You have exceeded a secondary rate limit."}'
        fault = Fault("GET", "/pulls/7", status=status, body=limited, headers={"Retry-After": "7"})
        fake.faults = [fault]
        waits: list[float] = []
        connect(patience=RetryBudget(sleep=waits.append)).pull("octo/shop", 7)
        assert waits == [7.0]

    def test_the_budget_is_for_all_requests_together(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        fake.faults = [Fault("GET", "/pulls/7", times=99)]
        patience = RetryBudget(attempts=99, budget=10, sleep=lambda _s: None, jitter=lambda: 0.0)
        hub = connect(patience=patience)
        with pytest.raises(SourceError):
            hub.pull("octo/shop", 7)
        assert len(fake.requests) == 4  # after waits of 1, 2 and 4 seconds, 8 are too many
        assert patience.budget == 3


class TestIdentity:
    def test_the_jobs_own_token(self, connect: Callable[..., GitHub]) -> None:
        assert connect().fetch_own_login() == "github-actions[bot]"

    @pytest.mark.parametrize("login", ["our-app[bot]", "our-app"])
    def test_another_app(
        self, fake: FakeGitHub, connect: Callable[..., GitHub], login: str
    ) -> None:
        fake.accounts["ghs_app"] = Account(login, "Bot")
        assert connect("ghs_app").fetch_own_login() == "our-app[bot]"

    def test_without_graphql_it_is_the_job(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        fake.faults = [Fault("POST", "/graphql", status=403, body='{"message": "No."}')]
        assert connect().fetch_own_login() == "github-actions[bot]"


class TestSticky:
    def test_created_once_then_edited(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        hub = connect()
        first = publish(hub, body("5.1", "one"))
        assert first == publish(hub, body("6.1", "two"))
        assert first is not None
        assert first.startswith("https://github.com/octo/shop/pull/7#issuecomment-")
        assert fake.bodies == [body("6.1", "two")]

    def test_found_on_the_fifth_page(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        for count in range(430):
            fake.add_comment(f"comment {count}", OCTOCAT)
        fake.add_comment(body("4.1", "old"))
        publish(connect(), body("5.1", "new"))
        assert len(fake.comments) == 431
        assert fake.bodies[-1] == body("5.1", "new")
        assert len([one for one in fake.requests if "/issues/7/comments" in one.path]) == 5

    def test_another_authors_marker_is_not_ours(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        fake.add_comment(body("99.1"), OCTOCAT)
        fake.add_comment(body("99.1"))["user"] = None
        publish(connect(), body())
        assert fake.bodies == [body("99.1"), body("99.1"), body()]

    def test_the_newest_of_several_leftovers_wins_and_the_oldest_stays(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        for text in (body("1.1", "a"), body("10.1", "b"), body("9.9")):
            fake.add_comment(text)
        publish(connect(), body("5.1", "ours"))
        assert fake.bodies == [body("10.1", "b")]
        assert [method for method, _ in fake.writes] == ["PATCH", "DELETE", "DELETE"]

    def test_the_rival_of_a_race_is_removed(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        def rival() -> None:
            fake.add_comment(body("5.2", "rival"))

        fake.faults = [Fault("POST", COMMENTS, status=NO_FAULT, action=rival)]
        publish(connect(), body("5.1", "ours"))
        assert fake.bodies == [body("5.2", "rival")]

    def test_an_older_run_writes_nothing(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        fake.add_comment(body("6.1", "newer"))
        publish(connect(), body("5.9", "older"))
        assert fake.bodies == [body("6.1", "newer")]
        assert fake.writes == []

    @pytest.mark.parametrize("status", [None, 502])
    def test_a_write_whose_answer_is_lost_is_not_repeated(
        self, fake: FakeGitHub, connect: Callable[..., GitHub], status: int | None
    ) -> None:
        fake.faults = [Fault("POST", COMMENTS, moment="after", status=status)]
        publish(connect(), body())
        assert fake.bodies == [body()]
        assert [method for method, _ in fake.writes] == ["POST"]

    def test_two_bad_gateways_before_the_write(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        fake.faults = [Fault("POST", COMMENTS, times=2)]
        publish(connect(), body())
        assert fake.bodies == [body()]

    def test_a_page_of_html_after_the_write(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        fake.faults = [Fault("POST", COMMENTS, moment="after", status=200)]
        publish(connect(), body())
        assert fake.bodies == [body()]

    def test_a_comment_deleted_meanwhile_is_created_anew(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        fake.add_comment(body("4.1"))
        fake.faults = [Fault("PATCH", ONE_COMMENT, status=NO_FAULT, action=fake.comments.clear)]
        publish(connect(), body("5.1"))
        assert fake.bodies == [body("5.1")]

    def test_a_read_only_token_names_the_permission(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        fake.accounts[TOKEN] = READ_ONLY_ACTIONS
        with pytest.raises(PublishError, match="pull-requests: write") as caught:
            publish(connect(), body())
        assert caught.value.reason == "permission"
        assert [method for method, _ in fake.writes] == ["POST"]

    def test_pages_that_lead_to_themselves_end(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        fake.add_comment("hello", OCTOCAT)
        fake.next_link = f"{fake.url}/repos/octo/shop/issues/7/comments?per_page=100&page=1"
        with pytest.raises(PublishError) as caught:
            publish(connect(), body())
        assert caught.value.reason == "too_large"
        assert fake.writes == []

    def test_pages_of_another_host_are_not_followed(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        with running() as other:
            fake.add_comment("hello", OCTOCAT)
            fake.next_link = other.url.replace("127.0.0.1", "localhost") + "/repos/octo/shop"
            with pytest.raises(PublishError) as caught:
                publish(connect(), body())
            assert other.requests == []
        assert caught.value.reason == "too_large"

    def test_a_persons_comment_is_found_by_that_person(
        self, fake: FakeGitHub, connect: Callable[..., GitHub]
    ) -> None:
        fake.add_comment(body("4.1"), OCTOCAT)
        fake.add_comment(body("4.2"), ACTIONS)
        publish(connect("ghp_octocat"), body("5.1"))
        assert fake.bodies == [body("5.1"), body("4.2")]


class TestConnections:
    @pytest.mark.parametrize(
        "url",
        [
            "https://ghe.test/api/v3",
            "https://ghe.test/api/v3/",
            "http://127.0.0.1:1",
            "http://[::1]:1",
        ],
    )
    def test_usable_roots(self, url: str) -> None:
        assert not Connection(url).api_url.endswith("/")

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "http://ghe.test/api/v3",
            "http://127.0.0.1.evil.test",
            "https://user:pw@ghe.test",
            "https://ghe.test?x",
            "https://ghe.test#x",
            "https://ghe.test:99999",
            "file:///etc/passwd",
            "https://",
            "https://[ghe.test",
        ],
    )
    def test_other_roots_get_no_token(self, url: str) -> None:
        with pytest.raises(UsageError):
            Connection(url, TOKEN)

    @pytest.mark.parametrize("token", ["ghs_x\r\nEvil: 1", "ghs_ä", "a\0b"])
    def test_a_token_with_other_characters_is_none(self, token: str) -> None:
        with pytest.raises(UsageError) as caught:
            Connection(token=token)
        assert token not in str(caught.value)

    def test_a_token_is_not_shown(self) -> None:
        assert TOKEN not in repr(Connection(token=TOKEN))


class TestManyOpenPulls:
    """Of ten thousand few are read, and a twin among them is found all the same."""

    @pytest.fixture
    def many(self) -> Iterator[FakeGitHub]:
        with running() as fake:
            for number in range(1, 1_001):
                side = side_payload(fake.url, "ada/shop", f"b{number}", f"{number:040x}")
                fake.add_pull("octo/shop", number, head=side)
            yield fake

    def ask(self, many: FakeGitHub) -> list[int | None]:
        with connected(many) as hub:
            found = list_all_or_found_pulls(hub, "octo/shop", f"{7:040x}", "ada/shop", "b7")
        return [pull.number for pull in found if pull.head.sha == f"{7:040x}"]

    def test_few_requests_tell_whose_head_it_is(self, many: FakeGitHub) -> None:
        assert self.ask(many) == [7]
        assert len(many.requests) == 6
        twin = side_payload(many.url, "eve/shop", "other", f"{7:040x}")
        many.pulls["octo/shop", 900]["head"] = twin
        assert sorted(filter(None, self.ask(many))) == [7, 900]

    def test_a_search_that_lags_behind_tells_nothing(self, many: FakeGitHub) -> None:
        many.unindexed = {7}
        with pytest.raises(SourceError, match="does not know #7 by its head yet"):
            self.ask(many)
        with connected(many) as hub:  # it was pushed to, and the branch says so
            found = list_all_or_found_pulls(hub, "octo/shop", "f" * 40, "ada/shop", "b7")
        assert [pull.number for pull in found] == [7]
