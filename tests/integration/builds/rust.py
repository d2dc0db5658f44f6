"""A fixture project for cargo: three crates in a workspace."""

from __future__ import annotations

from integration.builds.sample import Breakage, Sample, text

_CORE_RS = text("""
    pub fn twice(cents: i64) -> i64 {
        2 * cents
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn doubles() {
            assert_eq!(super::twice(2), 4);
        }
    }
""")
_APP_RS = text("""
    pub fn name() -> String {
        format!("till{}", core_prices::twice(0))
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn is_named() {
            assert_eq!(super::name(), "till0");
        }
    }
""")
_OTHER_RS = text("""
    pub fn ticks() -> bool {
        true
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn ticks() {
            assert!(super::ticks());
        }
    }
""")


def _crate(name: str, more: str = "") -> str:
    return f'[package]\nname = "{name}"\nversion = "1.0.0"\nedition = "2021"\n{more}'


CARGO = Sample(
    name="cargo",
    system="cargo",
    needs=("cargo",),
    tree={
        "Cargo.toml": '[workspace]\nmembers = ["core", "app", "other"]\nresolver = "2"\n',
        "Cargo.lock": text("""
            version = 3

            [[package]]
            name = "app"
            version = "1.0.0"
            dependencies = [
             "core_prices",
            ]

            [[package]]
            name = "core_prices"
            version = "1.0.0"

            [[package]]
            name = "other"
            version = "1.0.0"
        """),
        "core/Cargo.toml": _crate("core_prices"),
        "core/src/lib.rs": _CORE_RS,
        "app/Cargo.toml": _crate("app", '\n[dependencies]\ncore_prices = { path = "../core" }\n'),
        "app/src/lib.rs": _APP_RS,
        "other/Cargo.toml": _crate("other"),
        "other/src/lib.rs": _OTHER_RS,
    },
    harmless={"core/src/note.rs": "// a note\n"},
    broken=Breakage(
        {"core/src/lib.rs": _CORE_RS.replace("2 * cents", "2 * nowhere")},
        "core/src/lib.rs:2",
        "cannot find value `nowhere` in this scope",
    ),
    failing=Breakage(
        {"core/src/lib.rs": _CORE_RS.replace("2 * cents", "3 * cents")},
        "core/src/lib.rs:9",
        "assertion `left == right` failed",
    ),
    worse=Breakage(
        {"app/src/lib.rs": _APP_RS.replace('"till{}"', '"drawer{}"')},
        "app/src/lib.rs:9",
        "assertion `left == right` failed",
    ),
    luck={
        "core/tests/luck.rs": text("""
            #[test]
            fn works_the_second_time() {
                let known = std::path::Path::new("luck").exists();
                std::fs::write("luck", "").unwrap();
                assert!(known, "first time");
            }
        """)
    },
    deadly={"core/tests/halt.rs": "#[test]\nfn ends() {\n    std::process::abort();\n}\n"},
)
