"""``dsh-conformance record``: keep what passes between a client and a server, byte for byte."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .._loopback_port import PortError
from .._stopping import until_stopped
from ._serve import counted

_LOST = 3
_NOTHING = 5


@click.command(name="record")
@click.option("--upstream", "url", required=True, help="Where requests go: https://HOST[/PATH].")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("recordings"),
    show_default=True,
    help="The folder of the recordings.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Free where left out.")
@click.option("--name", help="What to call the server; its host where left out.")
@click.option("--times", type=click.IntRange(min=1), help="Exchanges; until Ctrl-C if left out.")
def record_command(*, url: str, out: Path, port: int, name: str | None, times: int | None) -> None:
    """Forward requests to a server and keep every exchange as a recording.

    Credentials, cookies and account ids are forwarded and not kept, nor is anything that looks
    like a key, a token, an account id or an e-mail address.

    All else that questions and answers say is kept as it is: prompts, names, ids of users. Look
    at the bodies before you share a recording; `fixtures lint` cannot do it for you.
    """
    from .._record._proxy import Recorder
    from .._record._store import Store, StoreError, server_name
    from .._record._upstream import UpstreamError, upstream_of

    try:
        upstream = upstream_of(url)
        store = Store(out, server_name(upstream.shown_host) if name is None else name)
        recorder = Recorder(upstream, store, port=port, tell=click.echo)
        with until_stopped(), recorder:
            click.echo(f"records {upstream.url} into {out / store.server}")
            click.echo(f"  base URL  {recorder.base_url}")
            click.echo("  ends " + ("with Ctrl-C" if times is None else f"after {times}"))
            recorder.serve(times)
    except (PortError, StoreError, UpstreamError) as error:
        raise click.ClickException(str(error)) from error
    damaged = f", {recorder.damaged} that no recording can hold" if recorder.damaged else ""
    click.echo(f"{counted(recorder.recorded, 'recording')} in {out / store.server}{damaged}")
    if recorder.lost:
        sys.exit(_LOST)
    if not recorder.recorded + recorder.damaged:
        sys.exit(_NOTHING)
