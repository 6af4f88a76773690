"""Buttons that open a chapter elsewhere: Binder, Colab, a JupyterHub.

Decision: one setting, `tj_repository`, says where the project lies, and every
button and install cell follows from it. Refusal: while it is unset there is
no button at all, and an address that no button could use stops the build.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlencode

from tjlib.trace import InputError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["Repository", "buttons", "repository", "setup"]

#: The branch to which .github/workflows/book.yml publishes the book with its downloads.
PAGES = "gh-pages"
_ADDRESS = re.compile(r"https://([\w.-]+)/([\w./-]+?)(?:\.git)?/?")
_FORM = "tj_repository in _config.yml: {} is {!r}; give {} or leave it empty"


class Repository(NamedTuple):
    """Where the project lies: its address, branch, owner/name, and a JupyterHub or ""."""

    url: str
    branch: str
    name: str
    hub: str


def repository(setting: dict[str, str]) -> Repository | None:
    """Read the setting.

    Parameters
    ----------
    setting : dict
        url, branch and hub, any of them missing or empty.

    Returns
    -------
    Repository or None
        None while there is no url.

    Raises
    ------
    InputError
        If an address is none.
    """
    url, branch, hub = ((setting.get(key) or "").strip() for key in ("url", "branch", "hub"))
    if unknown := set(setting) - {"url", "branch", "hub"}:
        raise InputError(f"tj_repository in _config.yml: no {', '.join(sorted(unknown))}; "
                          "it has url, branch and hub")
    if not url:
        return None
    found = _ADDRESS.fullmatch(url)
    if not found or "/" not in found[2]:
        raise InputError(_FORM.format("url", url, "https://HOST/OWNER/NAME"))
    if hub and not _ADDRESS.fullmatch(f"{hub.rstrip('/')}/x"):
        raise InputError(_FORM.format("hub", hub, "https://HOST of a JupyterHub"))
    return Repository(f"https://{found[1]}/{found[2]}", branch or "main", found[2],
                      hub.rstrip("/"))


def buttons(where: Repository | None, doc: str) -> list[dict[str, str]]:
    """Make a chapter's buttons as the theme takes them; none without a repository.

    Binder builds the project and opens the chapter itself. The two others have
    no tjlib, so they open the download, which installs it.
    """
    if where is None:
        return []
    ref, github = quote(where.branch, safe=""), where.url.startswith("https://github.com/")
    project = f"gh/{where.name}" if github else f"git/{quote(where.url, safe='')}"
    download = f"_sources/{doc}.ipynb"
    places = {"Binder": ("logo_binder.svg", f"https://mybinder.org/v2/{project}/{ref}?"
                         + urlencode({"urlpath": f"lab/tree/{doc}.ipynb"}))}
    if github:
        places["Colab"] = ("logo_colab.png", "https://colab.research.google.com/github/"
                           f"{where.name}/blob/{PAGES}/{download}")
    if where.hub:
        folder = where.name.rpartition("/")[2]
        places["JupyterHub"] = ("logo_jupyterhub.svg", f"{where.hub}/hub/user-redirect/git-pull?"
                                + urlencode({"repo": where.url, "branch": PAGES,
                                             "urlpath": f"lab/tree/{folder}/{download}"}))
    return [{"type": "link", "text": name, "tooltip": f"Open in {name}", "url": url,
             "icon": f"_static/images/{icon}"} for name, (icon, url) in places.items()]


def add_buttons(app: Sphinx, page: str, template: str, context: dict, doctree: object) -> None:
    """Put the buttons first in the header of a chapter."""
    if context.get("page_source_suffix") == ".ipynb" and (
            links := buttons(app.tj_repository, page)):
        context["header_buttons"].insert(0, {
            "type": "group", "tooltip": "Run this chapter elsewhere", "icon": "fas fa-rocket",
            "buttons": links, "label": "launch-buttons"})


def read_setting(app: Sphinx, config: object) -> None:
    """Read the setting once, before anything is built."""
    try:
        app.tj_repository = repository(config.tj_repository or {})
    except InputError as error:
        raise SystemExit(f"The book was not built: {error}") from None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_config_value("tj_repository", {}, "env", types=[dict])
    app.connect("config-inited", read_setting)
    app.connect("html-page-context", add_buttons, priority=502)  # the theme's come at 501
    return {"parallel_read_safe": True, "parallel_write_safe": True}
