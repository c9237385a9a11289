"""The server: it answers its own address only, leaks nothing, and keeps its limits."""

import asyncio
import http.client
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from tests.lab.browser import START
from tests.lab.sessions import exercise
from tornado.httputil import HTTPHeaders

from surefit.lab.guard import allowed_hosts, reason_to_refuse
from surefit.lab.lessons import LESSONS
from surefit.lab.limits import MOST_SESSIONS
from surefit.lab.opening import Openings
from surefit.lab.picture import Curve, Picture
from surefit.lab.scene import Frame, Points
from surefit.lab.scenes import SCENES


def request(address: str, path: str = "/", method: str = "GET", **headers) -> tuple[int, str, dict]:
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    text = answer.read().decode("utf-8", "replace")
    connection.close()
    return answer.status, text, dict(answer.getheaders())


def apart(function, *arguments):
    """Call in another thread: the browser keeps the event loop of this one running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


def test_the_lab_listens_on_loopback(lab):
    assert urlsplit(lab[0]).hostname == "127.0.0.1"
    assert request(lab[0])[0] == 200


@pytest.mark.parametrize(
    "path", ["/", "/overfitting", "/theory/novikoff", "/static/js/bokeh.min.js", "/ws", "/seen.gif"]
)
def test_foreign_hosts_and_origins_are_refused(lab, path):
    status, text, _ = request(lab[0], path, Host="evil.example")
    assert status == 403 and text == "surefit lab: this address is not served here.\n"
    status, text, _ = request(lab[0], path, Origin="http://evil.example")
    assert status == 403 and "other sites" in text
    assert request(lab[0], path, Origin="null")[0] == 403
    assert request(lab[0], path, Host="127.0.0.1:1")[0] == 403


def test_websockets_of_other_sites_are_refused(lab):
    from tornado.httpclient import HTTPClientError, HTTPRequest
    from tornado.websocket import websocket_connect

    url = lab[0].replace("http", "ws") + "/ws"

    async def connect(origin):
        return await websocket_connect(
            HTTPRequest(url, headers={"Origin": origin, "Sec-WebSocket-Protocol": "bokeh, x"})
        )

    with pytest.raises(HTTPClientError, match="403"):
        apart(asyncio.run, connect("http://evil.example"))


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/theory/nothing",
        "/theory/..%2f..%2fetc",
        "/%00",
        "/?state=%ff%fe",
        "/admin",
        "/autoload.js",
        "/static/../../x",
    ],
)
def test_strange_requests_leak_nothing(lab, path):
    status, text, _ = request(lab[0], path)
    assert status in (200, 400, 403, 404)
    assert "Traceback" not in text and "site-packages" not in text and "/src/surefit" not in text


def test_theory_pages_and_the_cookie_of_the_tour(lab):
    status, text, _ = request(lab[0], "/theory/novikoff")
    assert status == 200 and "<math" in text and "<script" not in text
    cookie = request(lab[0], "/seen.gif")[2]["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie


def test_the_first_picture_is_in_the_page_itself(lab):
    page = request(lab[0])[1]
    assert "<div id='opening' class='system' aria-hidden='true'>" in page and "data:image/png;base64," in page
    assert page.index("id='opening'") < page.index("bokeh.min.js")  # it is there before the scripts
    assert "<div id='opening' class='dark'" in request(lab[0], "/?theme=dark")[1]
    assert "id='opening'" not in request(lab[0], "/?state=x")[1]  # a link restores another screen


def test_an_opening_is_drawn_once_and_only_when_its_step_is_computed():
    lesson, points = LESSONS[2], Points.of([[0.0, 0.0], [1.0, 1.0]], [0, 1])
    frame = Frame("Step 1 < 2.", Picture(marks=(Curve([0.0, 1.0], [0.0, 1.0]),)))
    scene = SCENES["svc"]
    with ThreadPoolExecutor(1) as workers:
        openings = Openings(workers)
        openings.keep(lesson, [(scene, frame), (scene, None)], points)
        assert openings.of(lesson, "light") == ""
        openings.keep(lesson, [(scene, frame), (scene, frame)], points)
    page = openings.of(lesson, "light")
    assert page.count("<img") == 2 and lesson.title in page and "Step 1 &lt; 2." in page
    assert openings.of(lesson, "<script>").count("script") == 0
    openings.keep(lesson, [(scene, frame)], points)  # the workers have gone: drawing again would fail
    assert openings.of(lesson, "light") == page


def test_too_many_sessions_are_turned_away():
    hosts, pages = allowed_hosts("127.0.0.1", 5006), frozenset({"", "/overfitting"})
    asked = SimpleNamespace(path="/overfitting", headers=HTTPHeaders({"Host": "127.0.0.1:5006"}))
    assert reason_to_refuse(asked, hosts, lambda: MOST_SESSIONS - 1, pages) is None
    status, sentence = reason_to_refuse(asked, hosts, lambda: MOST_SESSIONS, pages)
    assert status == 503 and "close one" in sentence


def test_hosts_can_be_added_and_wildcard_addresses_add_none():
    assert "lab.example:80" in allowed_hosts("0.0.0.0", 8080, ("lab.example:80",))
    assert "0.0.0.0:8080" not in allowed_hosts("0.0.0.0", 8080)


def test_a_taken_port_is_said_in_one_sentence(lab):
    command = [sys.executable, "-c", START, "lab", "--no-show", "--port", str(urlsplit(lab[0]).port)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (
        result.returncode == 2
        and "choose another one with --port" in result.stderr
        and "Traceback" not in result.stderr
    )


def test_ten_sessions_for_twenty_seconds_stay_small():
    outcome = apart(exercise, 10, 20.0)
    assert outcome.changes >= 10 and outcome.pictures >= 10
    assert outcome.most < outcome.idle + 500, outcome.table()
    assert outcome.slowest < 20.0, outcome.table()
