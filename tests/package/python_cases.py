"""Cases of the Python package, run against the installed wheel: python_cases.py PAGE PTC FAULTY"""
import asyncio
import datetime
import doctest
import gc
import sys
import threading
import unittest

import ptc

PAGE, PTC, FAULTY = sys.argv[1:4]
KEY = b"0123456789abcdef"


class Values(unittest.TestCase):
    def test_json(self):
        for value in (None, True, 1, -1.5, "täxt \U0001f600", [1, [2]], {"a": {"b": [None]}}, 2**100, [], {}, "a\0b"):
            self.assertEqual(ptc.evaluate("data/v", {"v": value}), value)

    def test_dates_and_sets(self):
        self.assertEqual(ptc.evaluate("data/v", {"v": datetime.date(2026, 1, 2)}), "2026-01-02")
        self.assertEqual(sorted(ptc.evaluate("data/v", {"v": {1, 2}})), [1, 2])

    def test_what_has_no_json(self):
        for value in (object(), float("nan"), b"bytes".__class__):
            self.assertRaises(ptc.UsageError, ptc.evaluate, "1", {"v": value})
        self.assertRaisesRegex(ptc.ResultError, "function", ptc.evaluate, "inc")
        self.assertTrue(ptc.Engine().run("inc").text)

    def test_context_must_be_a_map(self):
        self.assertRaisesRegex(ptc.UsageError, "must be a dict.*got list", ptc.evaluate, "1", [1, 2])

    def test_too_much(self):
        with ptc.Engine(limits={"context_bytes": 1000}) as engine:
            self.assertRaisesRegex(ptc.UsageError, "1000 bytes", engine.evaluate, "1", {"v": ["x"] * 1000})

    def test_now_and_signature(self):
        engine = ptc.Engine()
        self.assertEqual(engine.evaluate("(System/currentTimeMillis)", now=5000), 5000)
        self.assertEqual(engine.evaluate("{:n 1}", signature="{n :int}"), {"n": 1})
        self.assertRaises(ptc.ValidationError, engine.evaluate, "{:n 1}", signature="{n :string}")
        self.assertRaises(ptc.ArgsError, engine.evaluate, "{:n 1}", signature="{n ")
        self.assertRaises(ptc.ValidationError, engine.evaluate, "1", output_schema={"type": "string"})


class Errors(unittest.TestCase):
    def test_classes(self):
        engine = ptc.Engine(limits={"timeout_ms": 200})
        for program, kind in (("(+ 1", ptc.ParseError), ("(foo)", ptc.RuntimeFailure), ("(fail {:a 1})", ptc.Failed),
                              ("(loop [x 1] (recur x))", ptc.ProgramError),
                              ("(vec (range 1e9))", ptc.ProgramError)):
            with self.assertRaises(kind, msg=program) as caught:
                engine.evaluate(program)
            self.assertTrue(caught.exception.message)
            self.assertIsInstance(caught.exception, ptc.PtcError)

    def test_memory(self):
        self.assertRaises(MemoryError, ptc.evaluate, "(loop [v []] (recur (conj v (vec (range 1000)))))")

    def test_limits(self):
        self.assertRaisesRegex(ptc.UsageError, "no limit 'tiemout_ms'", ptc.Engine, limits={"tiemout_ms": 1})
        self.assertRaises(ptc.UsageError, ptc.Engine, limits={"max_workers": 1000})
        self.assertRaisesRegex(ptc.UsageError, "timeout_ms must be a whole number; got '5'", ptc.Engine, limits={"timeout_ms": "5"})

    def test_closed(self):
        engine = ptc.Engine()
        engine.close()
        engine.close()
        self.assertRaisesRegex(ptc.UsageError, "closed", engine.evaluate, "1")

    def test_check(self):
        engine = ptc.Engine(tools=[ptc.Tool(lambda: "x", "n", "() -> :string")])
        found = engine.run("(inc (tool/n))").error
        self.assertEqual((found.kind, found.phase), ("type_error", "check"))
        for more in ({"check": "warn"}, {"limits": {"check": "warn"}}):
            outcome = engine.run("(inc (tool/n))", **more)
            self.assertEqual((outcome.error.phase, outcome.warnings[0].kind, len(outcome.tool_calls)), ("run", "type_mismatch", 1))
        self.assertEqual(engine.run("(inc (tool/n))", check="off").warnings, [])
        self.assertRaisesRegex(ptc.UsageError, "check must be one of error, warn, off; got 'wran'", engine.run, "1", check="wran")
        self.assertRaisesRegex(ptc.UsageError, "check must be one of", ptc.Engine, limits={"check": 1})

    def test_only_check(self):
        calls = []
        engine = ptc.Engine(tools=[ptc.Tool(calls.append, "pay", "(id :string) -> {id :string}")])
        with engine.session() as session:
            found = engine.check('(def x (tool/pay {:id "a"})) (println 1) (if (:id x) (:idd x) (inc (tool/pay {:id "b"})))', session=session)
            self.assertEqual([(m.severity, m.kind, m.phase) for m in found][0], ("error", "unknown_key", "check"))
            self.assertTrue(found[0].hint and found[0].line == 1 and found[0].column > 1)
            self.assertEqual((calls, len(session)), ([], 0))
        self.assertEqual([(m.severity, m.phase) for m in engine.check("(+ 1")], [("error", "parse")])
        self.assertEqual([m.severity for m in engine.check("(do (count data/ordres))", {"orders": []})], ["warning"])
        self.assertEqual(engine.check('(tool/pay {:id "a"})', signature="{id :string}"), [])
        self.assertEqual(engine.check('"a"', signature=":int")[0].kind, "validation_error")
        self.assertEqual(engine.check("(inc (tool/other))", tools={"other": lambda: 1}), [])

    def test_warnings(self):
        outcome = ptc.Engine().run("(count data/ordres)", {"orders": []})
        self.assertEqual((outcome.warnings[0].kind, outcome.warnings[0].phase), ("unknown_data", "check"))


class Tools(unittest.TestCase):
    def test_raises(self):
        def bad():
            raise KeyError("nothing")
        with self.assertRaises(ptc.RuntimeFailure) as caught:
            ptc.evaluate("(tool/bad {})", tools=[bad])
        self.assertEqual(caught.exception.kind, "tool_error")
        self.assertIsInstance(caught.exception.__cause__, KeyError)
        self.assertEqual(ptc.evaluate('(try (tool/bad {}) (catch Exception e 7))', tools=[bad]), 7)

    def test_unknown_arguments(self):
        def all_of_them(**given):
            return given
        program, signature = "(tool/f {:a 1 :b 2})", "(a :int) -> :any"
        with self.assertRaisesRegex(ptc.RuntimeFailure, "b: unexpected field; there is a"):
            ptc.evaluate(program, tools=[ptc.tool(name="f", signature=signature)(all_of_them)])
        more = ptc.tool(name="f", signature=signature, extra=True)(all_of_them)
        self.assertEqual(ptc.evaluate(program, tools=[more]), {"a": 1, "b": 2})

    def test_result_without_json(self):
        self.assertRaises(ptc.RuntimeFailure, ptc.evaluate, "(tool/f {})", tools={"f": object})

    def test_bad_definitions(self):
        for tools in ({"a b": len}, [ptc.tool(len, ).__class__(len, "x", signature="(")]):
            self.assertRaises(ptc.UsageError, ptc.Engine, tools=tools)
        self.assertRaisesRegex(ptc.UsageError, "needs a name", ptc.Engine, tools=[lambda n: n])
        self.assertRaisesRegex(ptc.UsageError, "a list of functions", ptc.Engine, tools=len)
        self.assertRaisesRegex(ptc.UsageError, "must be a function; got int", ptc.Engine, tools={"f": 1})

    def test_calls_are_told(self):
        outcome = ptc.Engine(tools={"f": lambda n: n}).run("(map #(tool/f {:n %}) [1 2])")
        self.assertEqual([(c.name, c.ok, c.result) for c in outcome.tool_calls], [("f", True, "1"), ("f", True, "2")])

    def test_hyphens(self):
        self.assertEqual(ptc.evaluate('(tool/f {:user-id 3})', tools={"f": lambda user_id: user_id}), 3)

    def test_engine_in_its_own_tool(self):
        engine = ptc.Engine(tools={"f": lambda: engine.evaluate("1")})
        with self.assertRaises(ptc.RuntimeFailure) as caught:
            engine.evaluate("(tool/f {})")
        self.assertIn("already", str(caught.exception))

    def test_threads(self):
        """Plain functions, from threads of pmap."""
        seen, lock = [], threading.Lock()

        def note(n):
            with lock:
                seen.append(n)
            return n * 2
        self.assertEqual(ptc.evaluate("(reduce + (pmap #(tool/note {:n %}) (range 100)))", tools=[note]), 9900)
        self.assertEqual(sorted(seen), list(range(100)))

    def test_async_without_a_loop(self):
        async def later(n):
            await asyncio.sleep(0)
            return n
        self.assertEqual(ptc.evaluate("(pmap #(tool/later {:n %}) (range 8))", tools=[later]), list(range(8)))

    def test_many_at_once(self):
        """All have begun before one ends."""
        async def main():
            begun, all_here = [], asyncio.Event()

            async def meet(n):
                begun.append(n)
                if len(begun) == 4:
                    all_here.set()
                await asyncio.wait_for(all_here.wait(), 60)
                return n
            engine = ptc.Engine(limits={"max_workers": 8})
            return await engine.evaluate_async("(pmap #(tool/meet {:n %}) (range 4))", tools=[meet])
        self.assertEqual(asyncio.run(main()), [0, 1, 2, 3])

    def test_async_cancel(self):
        async def main():
            begun = asyncio.Event()

            async def never():
                begun.set()
                await asyncio.sleep(3600)
            engine = ptc.Engine(tools=[never])
            task = asyncio.ensure_future(engine.evaluate_async("(tool/never {})"))
            await begun.wait()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            return engine.evaluate("(+ 1 1)")
        self.assertEqual(asyncio.run(main()), 2)

    def test_timeout_of_a_tool(self):
        @ptc.tool(timeout_ms=50)
        async def never():
            await asyncio.sleep(3600)
        self.assertRaises(ptc.RuntimeFailure, ptc.evaluate, "(tool/never {})", tools=[never])

    def test_cancel(self):
        engine = ptc.Engine(limits={"timeout_ms": 100000, "deadline_ms": 100000, "loop_limit": 1 << 60})
        going = threading.Event()
        ended = []

        def work():
            going.set()
            ended.append(engine.run("(loop [n 0] (recur (inc n)))").error.kind)
        thread = threading.Thread(target=work)
        thread.start()
        going.wait()
        while thread.is_alive():
            engine.cancel()
            thread.join(0.01)
        self.assertEqual(ended, ["cancelled"])


class Sessions(unittest.TestCase):
    def test_names(self):
        with ptc.Engine() as engine, engine.session() as session:
            session.evaluate("(def a 1) (defn f [] 2)")
            self.assertEqual((len(session), "a" in session, "b" in session, session["a"]), (2, True, False, 1))
            self.assertRaises(KeyError, lambda: session["b"])
            self.assertRaises(ptc.ResultError, lambda: session["f"])
            self.assertRaises(ptc.UsageError, session.__setitem__, "1x", 1)
            self.assertEqual(session.inspect()["count"], 2)
            del session["a"]
            self.assertRaises(KeyError, session.__delitem__, "a")
            session.clear()
            self.assertEqual(list(session), [])

    def test_snapshots(self):
        engine = ptc.Engine()
        session = engine.session()
        session.evaluate("(def a 1) (defn f [] (+ a 1))")
        saved = session.snapshot(KEY)
        self.assertEqual(engine.restore(saved, KEY).evaluate("(f)"), 2)
        self.assertRaises(ptc.UsageError, engine.restore, saved, KEY[::-1])
        self.assertRaises(ptc.UsageError, engine.restore, b"nonsense", KEY)
        self.assertRaisesRegex(ptc.UsageError, "bytes, 16 or more; got str", session.snapshot, "a key that is a text")
        self.assertRaisesRegex(ptc.UsageError, "bytes, 16 or more; got str", engine.restore, saved, "a key that is a text")

    def test_order_of_freeing(self):
        engine = ptc.Engine()
        session, data = engine.session(), engine.data({"a": 1})
        engine.close()
        del engine, session, data
        gc.collect()


class Agents(unittest.TestCase):
    def test_tools_and_children(self):
        child = ptc.Agent({"prompt": "Double {{n}}.", "signature": "(n :int) -> :int"})
        agent = ptc.Agent({"prompt": "Go.", "signature": "() -> :int"}, tools={"three": lambda: 3}, agents={"double": child})
        events = []

        def model(request):
            if "Double" in str(request["messages"]):
                return "```clojure\n(return (* 2 data/n))\n```"
            return "```clojure\n(return (tool/double {:n (tool/three {})}))\n```"
        result = agent.run(ask=model, watch=events.append)
        self.assertEqual((result.answer, result.usage.requests), (6, 2))
        self.assertIn("program_ended", [e.kind for e in events])

    def test_no_answer(self):
        agent = ptc.Agent({"prompt": "p", "signature": "() -> :int", "max_turns": 1})
        result = agent.run(ask=lambda request: "```clojure\n(fail \"no\")\n```")
        self.assertFalse(result.ok)
        with self.assertRaises(ptc.AgentError) as caught:
            _ = result.answer
        self.assertEqual(caught.exception.reason, result.reason)

    def test_bad(self):
        self.assertRaisesRegex(ptc.UsageError, "promt", ptc.Agent, {"promt": "x"})
        self.assertRaises(ptc.UsageError, ptc.Agent, "/nowhere/agent.json")
        self.assertRaises(ptc.UsageError, ptc.Agent({"prompt": "x"}).run, model="nobody:x", llm=ptc.Llm())
        self.assertRaisesRegex(ptc.UsageError, "needs llm", ptc.Agent({"prompt": "x"}).run, model="haiku")

    def test_model_raises(self):
        def model(request):
            raise ValueError("down")
        result = ptc.Agent({"prompt": "p"}).run(ask=model)
        self.assertIn("down", result.message)

    def test_async(self):
        async def later(n):
            await asyncio.sleep(0)
            return n + 1

        async def main():
            agent = ptc.Agent({"prompt": "p", "signature": "() -> :int"}, tools=[later])
            return await asyncio.gather(*[agent.run_async(ask=lambda r: "```clojure\n(return (tool/later {:n 1}))\n```")
                                          for _ in range(3)])
        self.assertEqual([r.answer for r in asyncio.run(main())], [2, 2, 2])

    def test_chat(self):
        heard = []

        def model(request):
            heard.append(len(request["messages"]))
            return "yes"
        chat = ptc.Agent({"prompt": "p", "output": "text"}).chat(ask=model)
        self.assertEqual([chat.say("a"), chat.say("b")], ["yes", "yes"])
        self.assertLess(heard[0], heard[1])
        chat.close()


class Servers(unittest.TestCase):
    def test_call(self):
        upstreams = ptc.Upstreams({"upstreams": {"far": {"command": sys.executable, "args": [FAULTY]}}}, command=PTC)
        engine = ptc.Engine(upstreams=upstreams)
        self.assertEqual(engine.evaluate('(far/echo {:text "hi"})'), "hi")
        self.assertEqual(upstreams.states(), {"far": "ready"})
        other = ptc.Engine(upstreams=upstreams)
        engine.close()
        upstreams.close()
        self.assertEqual(upstreams.states(), {})
        self.assertRaises(ptc.ProgramError, other.evaluate, '(far/echo {:text "hi"})')
        self.assertRaisesRegex(ptc.UsageError, "closed", ptc.Engine, upstreams=upstreams)
        self.assertRaisesRegex(ptc.UsageError, "comand", ptc.Upstreams, {"upstreams": {"a": {"comand": "x"}}})


def load_tests(loader, tests, pattern):
    with open(PAGE, encoding="utf-8") as file:
        lines = ["" if line.startswith("```") else line for line in file.read().splitlines()]
    page = doctest.DocTestParser().get_doctest("\n".join(lines), {}, "python.md", PAGE, 0)
    tests.addTest(doctest.DocTestCase(page, doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL))
    return tests


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], exit=False)
    bad = len(program.result.failures) + len(program.result.errors)
    print(f"python_cases.py: {program.result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad > 0)
