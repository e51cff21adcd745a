"""Stops calls of LiteLLM's proxy that a limit of Outlay has no room for, and records those that are made.

Put this file beside the proxy's config.yaml, and name it there:

    litellm_settings:
      callbacks: ["outlay_litellm.enforce"]

Settings, as environment variables:

    OUTLAY_URL                 the address of the service
    OUTLAY_KEY                 an API key with the permission log_usage
    OUTLAY_PROJECT             the project of calls whose metadata names none; default "litellm"
    OUTLAY_WHEN_UNREACHABLE    "open" (default): without a decision, calls are made without a reservation; "closed": they fail
    OUTLAY_WAIT_SECONDS        the longest time to wait for a decision; default 2
    OUTLAY_MAX_OPEN_CALLS      the most calls of a worker in an hour that are made without a reservation; default 100
    OUTLAY_MAX_OUTPUT_TOKENS   what is reserved where neither the request nor the deployment sets a maximum; default 8192
    OUTLAY_HOLD_SECONDS        after how many seconds a reservation ends by itself, 10 to 3600; default 600

It needs nothing but LiteLLM's own packages.
"""

import asyncio
import json
import os
import time
import uuid

import httpx
import litellm
from fastapi import HTTPException
from litellm._logging import verbose_proxy_logger as log
from litellm.integrations.custom_logger import CustomLogger

BYTES_PER_TOKEN = 2
TOKENS_PER_IMAGE = 5000
IMAGES = ("image_url", "input_image", "image")
# What the proxy calls a model for. Other calls are neither reserved nor recorded here.
CALLS = ("completion", "acompletion", "text_completion", "atext_completion", "embeddings", "aembedding")
CALLS += ("anthropic_messages", "responses", "aresponses")


# A call may go on after its reservation has ended; then its message is decided like any other.
REMEMBERED_SECONDS = 6 * 3600


class Unreachable(Exception):
    """The service gave no decision."""


class Enforce(CustomLogger):
    """Reserves before a call, settles by recording it, and releases where it fails."""

    def __init__(self):
        super().__init__()
        setting = os.environ.get
        self.url = setting("OUTLAY_URL", "http://127.0.0.1:3000").rstrip("/") + "/api/v1"
        self.headers = {"Authorization": "Bearer " + setting("OUTLAY_KEY", "")}
        self.project = setting("OUTLAY_PROJECT", "litellm")
        self.is_closed = setting("OUTLAY_WHEN_UNREACHABLE", "open") == "closed"
        self.wait = float(setting("OUTLAY_WAIT_SECONDS", "2"))
        self.max_open = int(setting("OUTLAY_MAX_OPEN_CALLS", "100"))
        self.max_output = int(setting("OUTLAY_MAX_OUTPUT_TOKENS", "8192"))
        self.hold = int(setting("OUTLAY_HOLD_SECONDS", "600"))
        self.open_calls, self.open_since, self.asleep_until = 0, 0.0, 0.0
        # By LiteLLM's id of the call, which callers may choose and use twice at a time: until when each is remembered, the id of
        # its reservation or None, and whom it is for.
        self.calls = {}
        self.tasks = set()
        self.client = None

    # The hooks of LiteLLM.

    async def async_pre_call_hook(self, user_api_key_dict, cache, data, call_type):
        if call_type not in CALLS:
            return data
        about = self.attribution(data, user_api_key_dict)
        reservation = await self.reserve(self.most(data, "embedding" not in call_type), about)
        self.forget_ended()
        call = (time.monotonic() + REMEMBERED_SECONDS, reservation, about)
        self.calls.setdefault(data.get("litellm_call_id"), []).append(call)
        return data

    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        held = self.take(kwargs.get("litellm_call_id"))
        if held is None:
            return
        _, reservation, about = held
        self.later(self.settle(kwargs.get("standard_logging_object") or {}, reservation, about))

    async def async_post_call_failure_hook(self, request_data, original_exception, user_api_key_dict, traceback_str=None):
        """Called once the call has failed for good: an attempt that is tried again holds on."""
        held = self.take(request_data.get("litellm_call_id"))
        if held and held[1]:
            self.later(self.release(held[1]))

    # What it tells the service.

    async def reserve(self, choices, about):
        """Returns the id of the reservation, or None where the call is made without one."""
        body = {"project": about["project"], "expires_in_seconds": self.hold, "idempotency_key": str(uuid.uuid4())}
        try:
            if not self.is_closed and time.monotonic() < self.asleep_until:
                raise Unreachable("The service did not answer a moment ago.")
            for number, usage in enumerate(choices, 1):
                message = {"type": "usage", **usage, **about["message"]}
                status, answer = await self.decide({**body, "message": message})
                if status == 201:
                    return answer["id"]
                # No price is known for these tokens: the next choice is what LiteLLM says that they cost.
                if status != 400 or number == len(choices):
                    raise refusal(status, answer)
                body["idempotency_key"] = str(uuid.uuid4())
        except Unreachable as error:
            self.pass_open(error)
        return None

    async def decide(self, body):
        """Asks until there is a decision or the time is over. The same key never holds twice."""
        until = time.monotonic() + self.wait
        while True:
            left = until - time.monotonic()
            if left <= 0:
                raise Unreachable(f"The service gave no decision within {self.wait:g} seconds.")
            try:
                status, answer, pause = await self.send("POST", "/reservations", body, left)
            except httpx.HTTPError:
                status, answer, pause = 0, None, 0
            if status and status not in (408, 425, 429) and status < 500:
                return status, answer
            pause = max(pause, 0.1)
            if time.monotonic() + pause >= until:
                if status == 429:
                    return status, answer
                raise Unreachable(f"The service gave no decision ({status or 'no answer'}).")
            await asyncio.sleep(pause)

    async def settle(self, told, reservation, about):
        """Records the call. What records it first, for example LiteLLM's webhook, counts: then the reservation is released."""
        lines = usage_lines(told)
        if not lines or told.get("cache_hit") is True:
            return await self.release(reservation)
        call = {"provider": told.get("custom_llm_provider") or "litellm", "model": told.get("model")}
        message = {"type": "usage", **call, **about["message"], "lines": lines}
        identity = told.get("id") or ""
        body = {"project": about["project"], "source": "api", "idempotency_key": "otel:response:" + identity}
        if not 20 <= len(identity) <= 120:
            body["idempotency_key"] = str(uuid.uuid4())
        if reservation:
            body["reservation_id"] = reservation
        status, answer = await self.insist("POST", "/messages", {**body, "message": message})
        if status == 201 and answer.get("cost_status") == "unpriced" and told.get("response_cost"):
            log.warning("Outlay has no price for %s: set one there.", told.get("model"))
        if status not in (201, 409):
            log.warning("Outlay did not record a call (%s): %s", status, (answer or {}).get("error_description"))
        if ((answer or {}).get("reservation") or {}).get("state") != "settled":
            await self.release(reservation)

    async def release(self, reservation):
        if reservation:
            await self.insist("DELETE", "/reservations/" + reservation, None)

    async def insist(self, method, path, body):
        """Sends until the service answers, for ten minutes. Everything it sends is safe to send again."""
        until, pause = time.monotonic() + 600, 0.5
        while True:
            try:
                status, answer, asked = await self.send(method, path, body, 30)
            except httpx.HTTPError:
                status, answer, asked = 0, None, 0
            if status and status not in (408, 425, 429) and status < 500:
                return status, answer
            if time.monotonic() > until:
                return status, answer
            await asyncio.sleep(max(pause, asked))
            pause = min(pause * 2, 30)

    async def send(self, method, path, body, timeout):
        if self.client is None:
            self.client = httpx.AsyncClient(headers=self.headers)
        answer = await self.client.request(method, self.url + path, json=body, timeout=timeout)
        try:
            parsed = answer.json()
        except ValueError:
            parsed = None
        after = answer.headers.get("retry-after", "")
        return answer.status_code, parsed, float(after) if after.isdigit() else 0

    # What it knows of a call before it is made.

    def most(self, data, has_output):
        """The most that the call may use, in the ways to reserve it: its tokens, or what LiteLLM says that they cost."""
        input_tokens, input_unit = count_input(data)
        asked = data.get("max_completion_tokens") or data.get("max_output_tokens") or data.get("max_tokens")
        usages = []
        for model, provider, most in deployments_of(data.get("model") or ""):
            output = (asked or most or self.max_output) * int(data.get("n") or 1) if has_output else 0
            try:
                costs = litellm.cost_per_token(f"{provider}/{model}", input_tokens, output, custom_llm_provider=provider)
            except Exception:  # LiteLLM raises many kinds for a model that it does not know.
                costs = (0, 0)
            usages.append((sum(costs), {"provider": provider, "model": model}, output))
        # Of several deployments, the dearest: which one is called is not known yet.
        cost, call, output = max(usages, key=lambda usage: usage[0])
        unit = input_unit if call["provider"] == "anthropic" else "input_tokens"
        lines = [{"unit_type": unit, "quantity": input_tokens}]
        if output:
            lines.append({"unit_type": "output_tokens", "quantity": output})
        choices = [{**call, "request_input_tokens": input_tokens, "lines": lines}]
        if cost > 0:
            choices.append({**call, "unit_type": "requests", "quantity": 1, "estimated_cost": round(cost, 12)})
        return choices

    def attribution(self, data, key):
        """Whom the call is for, from where the webhook of LiteLLM takes it."""
        metadata = data.get("metadata") or data.get("litellm_metadata") or {}
        told = {**(metadata.get("spend_logs_metadata") or {}), **(metadata.get("requester_metadata") or metadata)}
        user = getattr(key, "user_email", None) or getattr(key, "user_id", None) or getattr(key, "end_user_id", None)
        feature = told.get("feature")
        message = {**({"feature": feature} if feature else {}), **({"user": user} if user else {})}
        return {"project": told.get("project") or self.project, "message": message}

    # Its own state.

    def pass_open(self, error):
        """Lets a call through without a decision, or fails it."""
        now = time.monotonic()
        if now >= self.asleep_until:
            self.asleep_until = now + 5
        if now - self.open_since >= 3600:
            self.open_calls, self.open_since = 0, now
        if self.is_closed or self.open_calls >= self.max_open:
            raise HTTPException(503, {"error": f"Outlay: {error} No call is made.", "reason": "unreachable"})
        self.open_calls += 1
        log.warning("Outlay: a call is made without a reservation. %s", error)

    def take(self, call_id):
        """The oldest call of an id that has not ended; None where there is none."""
        held = self.calls.get(call_id)
        if held is None:
            return None
        oldest = held.pop(0)
        if not held:
            del self.calls[call_id]
        return oldest

    def forget_ended(self):
        """Forgets calls of which LiteLLM told no end."""
        now = time.monotonic()
        while self.calls and next(iter(self.calls.values()))[-1][0] < now:
            del self.calls[next(iter(self.calls))]

    def later(self, work):
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


def refusal(status, answer):
    """What the caller gets: 402 and the service's words where a limit has no room, 403 and so on for other reasons."""
    told = dict(answer or {"error": "unexpected_answer", "error_description": "The answer did not come from Outlay."})
    page = (told.get("how_to_ask") or {}).get("page")
    ask = f" Ask for more: {page}" if page else ""
    words = f"Outlay: {told.pop('error_description', 'refused')}{ask}"
    # LiteLLM shows `error` as the message.
    return HTTPException(status, {**told, "error": words, "reason": told.get("error")})


def deployments_of(group):
    """(model, provider, most output tokens or None) of each deployment behind a name that callers use."""
    from litellm.proxy.proxy_server import llm_router

    listed = (llm_router.get_model_list(model_name=group) if llm_router else None) or []
    found = []
    for params in [each.get("litellm_params") or {} for each in listed] or [{"model": group}]:
        try:
            model, provider, _, _ = litellm.get_llm_provider(
                params.get("model") or group, custom_llm_provider=params.get("custom_llm_provider")
            )
        except Exception:  # A name without a provider.
            model, provider = params.get("model") or group, "litellm"
        found.append((model, provider, params.get("max_tokens")))
    return found


def count_input(data):
    """The input tokens, one for two bytes of the request and 5,000 for an image, and their unit at Anthropic."""
    images = 0

    def strip(value):
        nonlocal images
        if isinstance(value, dict):
            if value.get("type") in IMAGES:
                images += 1
                return None
            return {name: strip(each) for name, each in value.items()}
        return [strip(each) for each in value] if isinstance(value, list) else value

    names = ("messages", "input", "prompt", "system", "instructions", "tools", "functions", "response_format")
    asked = {name: strip(data[name]) for name in names if data.get(name)}
    text = json.dumps(asked, ensure_ascii=False, default=str)
    unit = "input_tokens"
    if '"cache_control"' in text:
        unit = "cache_write_1h_tokens" if '"ttl": "1h"' in text else "cache_write_5m_tokens"
    return images * TOKENS_PER_IMAGE + -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN), unit


def usage_lines(told):
    """What a call used, from LiteLLM's log: its input includes what was cached, its output includes reasoning."""
    usage = (told.get("metadata") or {}).get("usage_object") or {}
    read_of = usage.get("prompt_tokens_details") or {}
    wrote = (usage.get("cache_creation") or read_of.get("cache_creation_token_details")) or {}
    read = usage.get("cache_read_input_tokens") or read_of.get("cached_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or read_of.get("cache_creation_tokens") or 0
    short, long = wrote.get("ephemeral_5m_input_tokens") or 0, wrote.get("ephemeral_1h_input_tokens") or 0
    reasoning = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    counts = {
        "input_tokens": (told.get("prompt_tokens") or 0) - read - max(written, short + long),
        "cache_read_tokens": read,
        "cache_write_tokens": max(0, written - short - long),
        "cache_write_5m_tokens": short,
        "cache_write_1h_tokens": long,
        "output_tokens": (told.get("completion_tokens") or 0) - reasoning,
        "output_reasoning_tokens": reasoning,
    }
    return [{"unit_type": unit, "quantity": count} for unit, count in counts.items() if count > 0]


enforce = Enforce()
