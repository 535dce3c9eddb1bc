"""Calls every route of a live server through a client that a generator wrote from /openapi.json.

KEEPER_SERVERS names the server, KEEPER_GITHUB_SECRET the secret of its webhook, KEEPER_GENERATED the folder with
the generated package keeper_api. KEEPER_RECORD names a file for the answers. A route that was not called fails the run, and so does an answer that the
generated types cannot read.
"""

import hashlib
import hmac
import json
import os
import re
import sys
import time
import urllib.request
import uuid

sys.path.insert(0, os.environ["KEEPER_GENERATED"])

import keeper_api  # noqa: E402
from keeper_api import api as apis  # noqa: E402
from keeper_api.exceptions import ApiException  # noqa: E402

HOST = os.environ["KEEPER_SERVERS"].split(",")[0]
CLIENT = keeper_api.ApiClient(keeper_api.Configuration(host=HOST))
CALLABLE = {
    name: getattr(instance, name)
    for kind in vars(apis).values()
    if isinstance(kind, type)
    for instance in [kind(CLIENT)]
    for name in dir(instance)
    if re.match("(get|put|post|delete)_", name)
}
called = set()
recorded = []


def record(name, deserialize):
    """Keeps the JSON of each good answer as the server sent it, for checks in other languages."""

    def remember(response_data, **types):
        if response_data.status < 300 and "json" in (response_data.getheader("Content-Type") or ""):
            body = json.loads(response_data.data)
            recorded.append({"operation": name[-1], "status": response_data.status, "body": body})
        return deserialize(response_data=response_data, **types)

    return remember


current = [""]
CLIENT.response_deserialize = record(current, CLIENT.response_deserialize)


def call(name, *args, **fields):
    """The answer as its generated type."""
    called.add(name)
    current.append(name)
    return CALLABLE[name](*[str(arg) if isinstance(arg, uuid.UUID) else arg for arg in args], **fields)


def first_bytes(name, *args, **fields):
    """The beginning of an answer that does not end."""
    called.add(name)
    response = CALLABLE[name + "_without_preload_content"](*args, **fields)
    chunk = response.read(1)
    response.close()
    return chunk


def refused(problem, name, *args, **fields):
    """A refusal that the generated client can read."""
    try:
        call(name, *args, **fields)
    except ApiException as e:
        document = keeper_api.Problem.from_json(e.body)
        assert document.type.endswith(problem), f"{name}: {document}"
        return
    raise AssertionError(f"{name} was not refused")


def until(question, seconds=30):
    end = time.monotonic() + seconds
    while not (answer := question()):
        assert time.monotonic() < end, "not in time"
        time.sleep(0.1)
    return answer


def queues():
    queue, loose = f"gen-{uuid.uuid4()}", f"gen-{uuid.uuid4()}"
    assert call("put_queues_queue", queue, {"mode": "ORDERED"}).name == queue
    call("put_queues_queue", loose, {"mode": "UNORDERED"})
    assert call("get_queues", limit=100).queues
    messages = [{"sessionId": s, "messageId": f"{s}{n}", "body": {"n": n}} for s in "abc" for n in range(3)]
    assert len(call("post_queues_queue_messages", queue, {"messages": messages}).messages) == 9
    assert call("get_queues_queue", queue).depth == 9
    assert call("get_queues_queue_scale", queue, slots=2).consumers == 2

    taken = call("post_queues_queue_work", queue, {"requestId": str(uuid.uuid4()), "take": {"sessions": 1, "wait": "PT5S"}})
    session = taken.sessions[0]
    done = {"leaseId": session.lease_id, "completed": [session.messages[0].sequence], "then": "release"}
    assert call("post_queues_queue_work", queue, {"requestId": str(uuid.uuid4()), "settle": [done]}).settled

    lease = call("post_queues_queue_leases", queue, {"sessionId": "b", "wait": "PT5S"}).lease_id
    received = call("get_queues_queue_leases_lease_id_messages", queue, lease, max=3).messages
    assert call("post_queues_queue_leases_lease_id_renew", queue, lease).locked_until
    call("put_queues_queue_leases_lease_id_state", queue, lease, b"memory")
    assert call("get_queues_queue_leases_lease_id_state", queue, lease) == b"memory"
    ends = [
        {"sequence": received[0].sequence, "action": "deadLetter", "reason": "one"},
        {"sequence": received[1].sequence, "action": "deadLetter", "reason": "two"},
    ]
    call("post_queues_queue_leases_lease_id_settlements", queue, lease, {"settlements": ends})
    call("delete_queues_queue_leases_lease_id", queue, lease)

    letters = call("get_queues_queue_dead_letters", queue).dead_letters
    assert len(letters) == 2
    assert call("get_queues_queue_dead_letters_groups", queue).groups
    found = call("get_queues_queue_dead_letters_search", queue, session_id="b").dead_letters
    letter = found[0].id
    assert call("get_queues_queue_dead_letters_id", queue, letter).session_id == "b"
    call("put_queues_queue_dead_letters_id_body", queue, letter, {"body": '{"n": 1}', "reason": "mended"})
    assert call("get_queues_queue_dead_letters_id_repairs", queue, letter).originals
    call("delete_queues_queue_dead_letters_id", queue, found[1].id)
    call("post_queues_queue_dead_letters_replay", queue, {"all": True, "dryRun": True})

    assert call("get_queues_queue_sessions", queue).sessions
    call("post_queues_queue_sessions_actions", queue, {"sessionId": "c", "action": "pause", "reason": "a look"})
    assert call("get_queues_queue_sessions_search", queue, prefix="c").sessions
    assert call("get_queues_queue_session", queue, session_id="c")
    assert call("get_queues_queue_session_messages", queue, session_id="c").messages
    call("get_queues_queue_session_state", queue, session_id="b")
    call("get_queues_queue_session_timeline", queue, session_id="c")

    act = {"act": "resume", "filter": {"status": "paused"}, "reason": "a look"}
    trial = call("post_queues_queue_bulk", queue, {**act, "dryRun": True})
    run = call("post_queues_queue_bulk", queue, {**act, "token": trial.token})
    assert call("get_bulk").runs
    assert call("get_bulk_id", run.id)
    call("post_bulk_id_stop", run.id)

    call("post_queues_queue_messages", loose, {"messages": [{"body": 1}]})
    receipt = call("post_queues_queue_receive", loose, {"wait": "PT5S"}).messages[0].receipt
    assert call("post_queues_queue_renewals", loose, {"receipt": receipt}).locked_until
    call("post_queues_queue_settlements", loose, {"settlements": [{"receipt": receipt, "action": "complete"}]})
    call("post_queues_queue_purge", loose, {"confirm": loose, "part": "messages"})
    call("delete_queues_queue", loose, confirm=loose)
    refused("unknown-queue", "get_queues_queue", loose)


def streams():
    stream = f"gen-{uuid.uuid4()}"
    first = call("post_streams_stream_events", stream, {"event": "tick", "data": {"n": 1}}, idempotency_key="k")
    call("post_streams_stream_events_batch", stream, {"events": [{"eventId": "evt_2", "data": 2}]})
    assert call("get_streams").streams
    assert call("get_streams_stream_newest", stream).events
    assert call("put_streams_stream_subscribers_subscriber", stream, "ann", {"from": "start"}).position == 0
    acknowledged = call("post_streams_stream_subscribers_subscriber_ack", stream, "ann", {"lastEventId": str(first.id)})
    assert acknowledged.position == 1
    assert call("get_streams_stream_subscribers", stream).subscribers[0].behind == 1
    assert call("post_streams_stream_tokens", stream, "ann", {"ttl": "PT1M"}).token
    page = call("get_streams_stream_events", stream, last_event_id="1", _headers={"Accept": "application/json"})
    assert "evt_2" in str(page)
    assert first_bytes("get_streams_stream_events", stream, last_event_id="1")


def registry():
    user, tenant, capacity = (str(uuid.uuid4()) for _ in range(3))
    body = {"userObjectId": user, "tenantObjectId": tenant, "capacityId": capacity, "sessionKind": 1}
    session = call("put_sessions", body)
    assert session.status == "created" and call("put_sessions", body).status == "existing"
    assert call("get_sessions", tenant_object_id=tenant).sessions
    assert call("get_sessions_id", session.session_id).is_active
    call("post_sessions_id_renew", session.session_id)
    usages = until(lambda: call("get_usages", tenant_object_id=tenant).usages, 60)
    assert call("delete_sessions_id", session.session_id).is_active is False
    call("post_usages_corrections", {"recordId": usages[0].record_id, "factor": 0.5, "reason": "half"})
    batches = call("get_usages_batches", tenant_object_id=tenant).batches
    assert batches
    call("post_usages_batches_id_replay", batches[0].batch_id)
    assert call("get_usages_proof", tenant_object_id=tenant).tenants
    call("post_usages_hold_release")
    call("post_erasures", {"userObjectId": user, "reason": "asked for it"})


def github():
    payload = {"action": "opened", "number": 7, "repository": {"full_name": "acme/app", "owner": {"login": "acme"}}}
    body = json.dumps(payload)
    secret = os.environ["KEEPER_GITHUB_SECRET"].encode()
    signature = "sha256=" + hmac.new(secret, body.encode(), hashlib.sha256).hexdigest()
    delivery = str(uuid.uuid4())
    call(
        "post_webhooks_github",
        payload,
        x_git_hub_event="pull_request",
        x_git_hub_delivery=delivery,
        x_hub_signature_256=signature,
    )
    events = until(lambda: call("get_events").events)
    assert call("get_events_id", events[0].event_id)
    assert json.loads(call("get_events_id_payload", events[0].event_id)) == payload
    call("post_events_replay", {"eventId": events[0].event_id, "dryRun": True})
    again = {"act": "replayEvents", "filter": {"eventId": events[0].event_id}, "dryRun": True}
    assert call("post_bulk", again).count >= 0
    bots = call("get_bots").bots
    assert bots
    call("post_bots_explain", {"type": "pull_request", "payload": body})


def server():
    jobs = call("get_jobs").jobs
    name = jobs[0].name
    call("get_jobs_name", name)
    for act in ("pause", "resume", "run"):
        call(f"post_jobs_name_{act}", name)
    assert call("get_health_live").status
    assert call("get_health_ready").status
    assert "keeper" in call("get_metrics")
    assert call("get_openapi_json")
    assert call("get_nodes").nodes
    assert call("get_system")
    assert call("get_samples")
    assert call("get_samples_queues")
    assert call("get_samples_sessions")
    assert first_bytes("get_samples_live")
    assert call("get_audit", limit=5).entries
    assert first_bytes("get_audit_export") == b"{"  # One JSON object per line: no schema reads that.
    assert call("get_audit_verify").intact
    call("get_credentials")
    call("get_keys")
    refused("conflict", "post_keys", {"name": "gen", "roles": ["read"]})  # This server asks for no credentials.
    refused("not-found", "delete_keys_key", "gen")
    call("post_admin_reload")


for part in (queues, streams, registry, github, server):
    part()

described = json.load(urllib.request.urlopen(f"{HOST}/openapi.json"))
routes = {
    re.sub(r"(?<!^)(?=[A-Z])", "_", operation["operationId"]).lower(): (method, path)
    for path, operations in described["paths"].items()
    for method, operation in operations.items()
    if "operationId" in operation
}
missing = routes.keys() - called
if missing:
    raise SystemExit(f"{len(missing)} routes were not called: {sorted(missing)}")
if "KEEPER_RECORD" in os.environ:
    with open(os.environ["KEEPER_RECORD"], "w") as out:
        for answer in recorded:
            method, path = routes[answer["operation"]]
            described_answer = described["paths"][path][method]["responses"][str(answer["status"])]
            if path == "/openapi.json" or "application/json" not in described_answer["content"]:
                continue  # No schema: the description itself, and bytes as GitHub sent them.
            out.write(json.dumps({"method": method, "path": path, **answer}) + "\n")
print(f"{len(routes)} routes were called")
