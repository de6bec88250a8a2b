"use strict";
// The explorer. What the server sends is only ever shown as text; pictures are SVG whose texts are escaped.
(() => {
  const { make, figure, words } = page;
  const $ = (id) => document.getElementById(id);
  const state = $("state");
  const dials = $("dials");
  const text = $("text");
  const asking = $("ask");
  const WAIT_MS = 350; // after the last key, before a text is read
  let benchmarks = [];
  let view = null; // what is shown
  let own = null; // the text that view was read from, if it is a user's own
  let edited = false; // whether the text is no longer that of view.reference
  let steps = [];
  let latest = 0; // the number of the last request for a story; earlier ones that come late are dropped
  let latestSteps = 0;
  let waiting = 0;

  // --- requests

  async function request(path, body) {
    const how = body
      ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }
      : {};
    let answer;
    try {
      answer = await fetch(path, { ...how, mode: "same-origin", credentials: "omit", cache: "no-store" });
    } catch {
      throw new Error("The server does not answer; is storyproof serve still running?");
    }
    const found = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(found.error || `The server answers with status ${answer.status}.`);
    return found;
  }

  function say(message, isWrong) {
    state.textContent = message;
    state.className = isWrong ? "bad" : "note";
  }

  function options(select, values, chosen) {
    const nodes = values.map((value) => {
      const [key, label] = Array.isArray(value) ? value : [value, value];
      const node = make("option", "", label);
      node.value = key;
      return node;
    });
    select.replaceChildren(...nodes);
    if (chosen !== undefined) select.value = chosen;
  }

  // --- dials

  const chosen = () => benchmarks.find((each) => each.name === dials.elements.benchmark.value);

  function showDials(settings) {
    const benchmark = chosen();
    $("summary").textContent = benchmark.summary;
    $("preset-label").hidden = !benchmark.presets.length;
    options(dials.elements.preset, [["", "none"], ...benchmark.presets]);
    $("more-dials").hidden = !benchmark.dials.length;
    $("settings").replaceChildren(...benchmark.dials.map((dial) => showDial(dial, settings)));
    options($("download").elements.format, benchmark.formats, "jsonl");
    $("test-label").textContent = benchmark.test_parts ? `Test stories for each ${benchmark.test_parts}` : "Test stories";
  }

  function showDial(dial, settings) {
    const given = settings && dial.name in settings ? settings[dial.name] : undefined;
    let field;
    if (dial.kind === "choice") {
      field = document.createElement("select");
      options(field, dial.choices, given ?? dial.default);
    } else {
      field = document.createElement("input");
      field.autocomplete = "off";
      if (dial.kind === "switch") {
        field.type = "checkbox";
        field.checked = given ?? dial.default;
      } else {
        field.inputMode = dial.kind === "number" ? "decimal" : "text";
        field.value = given ?? "";
        field.placeholder = dial.default;
        field.maxLength = 200;
      }
    }
    field.name = `dial-${dial.name}`;
    field.dataset.dial = dial.name;
    const help = make("span", "note", dial.help);
    const label =
      dial.kind === "switch" ? make("label", "tick", field, words(dial.label)) : make("label", "", words(dial.label), field);
    const node = make("div", "", label, help);
    help.id = `help-${dial.name}`;
    field.setAttribute("aria-describedby", help.id);
    return node;
  }

  function turned() {
    const benchmark = chosen();
    const settings = {};
    for (const dial of benchmark.dials) {
      const field = dials.elements[`dial-${dial.name}`];
      const value = dial.kind === "switch" ? field.checked : field.value;
      if (value !== dial.default && value !== "") settings[dial.name] = value;
    }
    return { benchmark: benchmark.name, preset: dials.elements.preset.value, settings };
  }

  // --- stories

  async function newStory(wanted) {
    const number = ++latest;
    window.clearTimeout(waiting);
    say("Making a story …");
    try {
      const about = wanted ?? { ...turned(), split: dials.elements.split.value };
      const found = await request("/api/story", { ...about, order: order() });
      if (number !== latest) return;
      edited = false;
      fill(found);
      show(found);
      history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify({ ...found.reference, asked: found.asked }))}`);
      say(found.answer ? "A story with its answer and proof." : "A story from which no answer follows.");
    } catch (error) {
      if (number === latest) say(error.message, true);
    }
  }

  function fill(found) {
    const fields = text.elements;
    fields.story.value = found.lines.join("\n");
    fields.question.value = found.question;
    fields.people.value = found.people.join(", ");
    fields.family.value = found.family;
  }

  function ownText() {
    const fields = text.elements;
    return {
      story: fields.story.value,
      question: fields.question.value,
      family: fields.family.value,
      people: fields.people.value.split(",").map((name) => name.trim()).filter(Boolean).slice(0, 64),
    };
  }

  const order = () => Math.min(Math.max(Math.round(Number(text.elements.order.value)) || 2, 1), 8);

  async function readText() {
    const number = ++latest;
    window.clearTimeout(waiting);
    edited = true;
    say("Reading …");
    try {
      const read = ownText();
      const found = await request("/api/read", { ...read, order: order() });
      if (number !== latest) return;
      own = read;
      show(found);
      history.replaceState(null, "", location.pathname);
      const fatal = found.problems.some((each) => each.is_fatal);
      say(fatal ? "The text cannot be read; the place is marked below." : "The text is read, checked and answered.");
    } catch (error) {
      if (number === latest) say(error.message, true);
    }
  }

  function readSoon() {
    edited = true;
    window.clearTimeout(waiting);
    waiting = window.setTimeout(readText, WAIT_MS);
  }

  // What a request for steps or an answer is about: what is shown, even if somebody types on meanwhile.
  function source() {
    return view.reference ? { ...view.reference, asked: view.asked } : own;
  }

  // --- what is shown

  function show(found) {
    view = found;
    showProblems(found);
    showAnswer(found);
    showChoices(found);
    const drawn = found.pictures.map((each) => figure(each, each.caption));
    $("pictures").replaceChildren(...drawn, ...(found.note ? [make("p", "note", found.note)] : []));
    showReadings(found.readings);
    showModels(found);
    $("conventions").replaceChildren(...found.conventions.map((each) => make("li", "", each)));
    $("rules").hidden = !found.conventions.length;
    $("replies").replaceChildren();
    showSteps();
    document.documentElement.dataset.ready = "";
  }

  function showProblems(found) {
    $("problems").replaceChildren(
      ...found.problems.map((problem) => {
        const parts = [];
        const lines = problem.part === "question" ? [found.question] : found.lines;
        const line = problem.line ? lines[problem.line - 1] : undefined;
        const where = problem.part === "question" ? "Question" : problem.line ? `Line ${problem.line}` : "Story";
        const column = problem.column ? `, column ${problem.column}` : "";
        parts.push(make("p", "", make("strong", "", where + column), ": ", make("span", "data", problem.message)));
        if (line !== undefined) {
          const start = problem.column ? problem.column - 1 : 0;
          const end = problem.column && problem.length ? start + problem.length : line.length;
          const there = line.slice(start, end) || "␣";
          parts.push(make("p", "", make("code", "data", line.slice(0, start), make("mark", "", there), line.slice(end))));
          const button = make("button", "plain", "Go there");
          button.type = "button";
          button.addEventListener("click", () => goTo(problem, lines, start, end));
          parts.push(make("p", "", button));
        }
        return make("div", problem.is_fatal ? "problem" : "problem minor", ...parts);
      }),
    );
  }

  function goTo(problem, lines, start, end) {
    const field = problem.part === "question" ? text.elements.question : text.elements.story;
    if (field.value.split("\n")[problem.line - 1] !== lines[problem.line - 1]) field.value = lines.join("\n");
    const before = lines.slice(0, problem.line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    field.focus();
    field.setSelectionRange(before + start, before + end);
  }

  function showAnswer(found) {
    const parts = [];
    if (found.question) parts.push(make("p", "data", found.question));
    const isRead = !found.problems.some((each) => each.is_fatal);
    if (isRead) {
      const answer = found.answer ? make("strong", "data", found.answer) : make("strong", "", "no answer follows");
      parts.push(make("p", "found", answer));
      const rows = [];
      if (found.proof.length) rows.push(["follows from", `${found.proof.length > 1 ? "sentences" : "sentence"} ${found.proof.join(", ")}`]);
      if (found.answer) rows.push(["checker", found.confirmed ? "✓ confirms it" : "does not derive it under the default reading"]);
      for (const [name, value] of Object.entries(found.facts)) rows.push([name, value]);
      const list = make("dl", "");
      for (const [name, value] of rows) list.append(make("dt", "", name), make("dd", "data", value));
      parts.push(list, page.story(found.lines, found.proof));
    }
    $("answer").replaceChildren(...parts);
  }

  function showChoices(found) {
    const given = found.given.map((each, index) => [`given:${index}`, `${each.question} (${words(each.kind)})`]);
    const known = new Set(found.given.map((each) => each.question));
    const more = found.questions.filter((each) => !known.has(each)).map((each) => [`more:${each}`, each]);
    const select = text.elements.choices;
    options(select, [["", given.length + more.length ? "choose …" : "none known"], ...given, ...more]);
    if (!edited && found.given.length) select.value = `given:${found.asked}`;
  }

  function showReadings(readings) {
    $("readings-section").hidden = !readings.length;
    const differ = new Set(readings.map((each) => each.answer)).size > 1;
    const rows = readings.map((each) => [each.name, each.answer || "no answer", each.meaning]);
    const note = differ ? "The readings differ: the answer depends on the rule." : "All readings agree.";
    $("readings").replaceChildren(table(["reading", "answer", "rule"], rows, "Readings"), make("p", "", note));
  }

  function table(heads, rows, label) {
    const head = make("tr", "", ...heads.map((each) => cell("th", each, "col")));
    const body = rows.map(([first, ...rest]) => make("tr", "", cell("th", first, "row"), ...rest.map((each) => cell("td", each))));
    const node = make("div", "scroll", make("table", "", make("thead", "", head), make("tbody", "", ...body)));
    node.tabIndex = 0;
    node.setAttribute("role", "region");
    node.setAttribute("aria-label", label);
    return node;
  }

  function cell(name, content, scope) {
    const node = make(name, "", make("span", "data", content));
    if (scope) node.scope = scope;
    return node;
  }

  function showModels(found) {
    const models = found.models;
    $("models-section").hidden = !models.length;
    $("models-note").textContent =
      models.length > 1
        ? "The checker finds worlds that fit the story and differ in the answer, so none follows:"
        : "The checker finds no world with another answer.";
    $("models").replaceChildren(
      ...models.map((each) => (each.picture ? figure(each.picture, each.caption) : make("p", "data", each.caption))),
    );
  }

  // --- sentence by sentence

  async function showSteps() {
    const number = ++latestSteps;
    const section = $("steps-section");
    if (view.problems.some((each) => each.is_fatal) || !view.question) {
      section.hidden = true;
      return;
    }
    try {
      const found = await request("/api/steps", { ...source(), order: order() });
      if (number !== latestSteps) return;
      steps = found.steps;
      section.hidden = !steps.length;
      $("where").max = String(steps.length);
      step(steps.length);
    } catch (error) {
      if (number !== latestSteps) return;
      steps = [];
      section.hidden = false;
      $("sentence").textContent = error.message;
      $("moment").replaceChildren();
    }
  }

  function step(wanted) {
    if (!steps.length) return;
    const number = Math.min(Math.max(wanted, 1), steps.length);
    $("where").value = String(number);
    $("where").setAttribute("aria-valuetext", `sentence ${number} of ${steps.length}`);
    $("back").disabled = number === 1;
    $("on").disabled = number === steps.length;
    const now = steps[number - 1];
    const before = new Map((steps[number - 2]?.entries ?? []).map(([group, name, value]) => [`${group}\n${name}`, value]));
    $("sentence").replaceChildren(make("span", "note", `${number}/${steps.length} `), make("span", "data", now.sentence));
    const groups = new Map();
    for (const entry of now.entries) {
      if (!groups.has(entry[0])) groups.set(entry[0], []);
      groups.get(entry[0]).push(entry);
    }
    const tables = [...groups].map(([group, entries]) => {
      const rows = entries.map(([, name, value, isWrong]) => {
        const changed = (before.get(`${group}\n${name}`) ?? "") !== value;
        const shown = make("span", isWrong ? "data bad" : "data", isWrong ? `≠ ${value}` : value || "–");
        const first = cell("th", name, "row");
        const row = make("tr", changed ? "changed" : "", first, make("td", "", shown));
        if (changed) row.cells[1].append(make("span", "note", " changed"));
        return row;
      });
      const node = make("table", "", make("caption", "", group), make("tbody", "", ...rows));
      return make("div", "", node);
    });
    const parts = [make("div", "groups", ...tables)];
    if (now.picture) parts.push(figure(now.picture, now.picture.caption));
    $("moment").replaceChildren(...parts);
    document.querySelectorAll("#answer .story li").forEach((line, index) => {
      if (index === number - 1) line.setAttribute("aria-current", "step");
      else line.removeAttribute("aria-current");
    });
  }

  // --- models

  async function ask() {
    const model = asking.elements.model.value;
    const card = make("div", "reply", make("p", "", make("strong", "data", model), " is asked …"));
    $("replies").prepend(card);
    try {
      const body = { ...source(), model, prompt: asking.elements.prompt.value, conventions: asking.elements.conventions.checked };
      const found = await request("/api/ask", body);
      const careful = found.matches.careful;
      const verdict = careful ? (careful.right ? "✓ right" : "✗ wrong") : "";
      const said = found.cut_off ? "(cut off before an answer)" : found.answer || "(nothing)";
      const parts = [make("p", "", make("strong", "data", found.model), ": ", make("span", "data", said))];
      if (verdict) {
        const how = `${verdict}: expected ${found.target} (${words(careful.kind)})`;
        parts.push(make("p", careful.right ? "good data" : "bad data", how));
      }
      for (const each of found.steps) {
        const prompt = make("details", "", make("summary", "", "Prompt and reply"), make("pre", "data", each.prompt), make("pre", "data", each.reply));
        parts.push(prompt);
      }
      card.replaceChildren(...parts);
    } catch (error) {
      card.replaceChildren(make("p", "", make("strong", "data", model), ": ", make("span", "bad data", error.message)));
    }
  }

  function showPrompts(models) {
    const found = models.find((each) => each.name === asking.elements.model.value);
    for (const name of ["prompt", "conventions"]) asking.elements[name].disabled = !found?.prompts;
  }

  // --- downloads, runs and audits

  async function makeDataset() {
    const fields = $("download").elements;
    const counts = {};
    for (const name of ["train", "val", "test", "seed"]) counts[name] = Math.round(Number(fields[name].value)) || 0;
    $("downloaded").textContent = "Making the dataset …";
    try {
      const found = await request("/api/dataset", { ...turned(), ...counts, format: fields.format.value });
      const link = make("a", "", found.file);
      link.href = `/downloads/${encodeURIComponent(found.file)}`;
      link.download = found.file;
      const told = Object.entries(found.splits).map(([split, each]) => `${split}: ${each.stories} stories, ${each.questions} questions`);
      $("downloaded").replaceChildren(link, ` (${told.join("; ")})`);
    } catch (error) {
      $("downloaded").replaceChildren(make("span", "bad data", error.message));
    }
  }

  async function showFiles() {
    const form = $("files");
    try {
      const found = await request("/api/files");
      $("folder").replaceChildren("In the data folder ", make("span", "data", found.folder), ".");
      const parts = [];
      if (found.runs.length) {
        const items = found.runs.map((name) => {
          const box = document.createElement("input");
          box.type = "checkbox";
          box.name = "run";
          box.value = name;
          return make("li", "", make("label", "tick", box, make("span", "data", name)));
        });
        const button = make("button", "", "Open the report on the chosen runs");
        button.type = "submit";
        parts.push(make("h3", "", "Runs"), make("ul", "", ...items), make("p", "", button));
      }
      if (found.data.length) {
        const items = found.data.map((name) => {
          const link = make("a", "data", name);
          link.href = `/audit?data=${encodeURIComponent(name)}`;
          link.target = "_blank";
          link.rel = "noopener";
          return make("li", "", "Audit ", link);
        });
        parts.push(make("h3", "", "Data"), make("ul", "", ...items));
      }
      if (!parts.length) parts.push(make("p", "note", "It has no runs and no data yet; evaluate --output-dir and generate --out write them."));
      form.replaceChildren(...parts);
    } catch (error) {
      form.replaceChildren(make("p", "bad data", error.message));
    }
  }

  // --- events

  function follow() {
    if (location.hash.length < 2) return false;
    let wanted;
    try {
      wanted = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    } catch {
      say("The address names no story; here is another one.", true);
      return false;
    }
    if (!benchmarks.some((each) => each.name === wanted?.benchmark)) return false;
    dials.elements.benchmark.value = wanted.benchmark;
    showDials(wanted.settings);
    if (wanted.preset) dials.elements.preset.value = wanted.preset;
    if (wanted.split) dials.elements.split.value = wanted.split;
    newStory(wanted);
    return true;
  }

  dials.addEventListener("submit", (event) => {
    event.preventDefault();
    newStory();
  });
  dials.addEventListener("change", (event) => {
    if (event.target.name === "benchmark") showDials();
    newStory();
  });
  text.addEventListener("submit", (event) => {
    event.preventDefault();
    readText();
  });
  text.addEventListener("input", (event) => {
    if (["story", "question", "people"].includes(event.target.name)) readSoon();
  });
  text.addEventListener("change", (event) => {
    const { name, value } = event.target;
    if (name === "choices" && value) {
      const [kind, ...rest] = value.split(":");
      const number = Number(rest[0]);
      if (kind === "given" && !edited) {
        newStory({ ...view.reference, asked: number });
      } else {
        text.elements.question.value = kind === "given" ? view.given[number].question : rest.join(":");
        readText();
      }
    }
    if (name === "family" || (name === "order" && edited)) readText();
    else if (name === "order" && view) newStory({ ...view.reference, asked: view.asked });
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      readText();
    }
  });
  asking.addEventListener("submit", (event) => {
    event.preventDefault();
    if (view) ask();
  });
  $("download").addEventListener("submit", (event) => {
    event.preventDefault();
    makeDataset();
  });
  $("files").addEventListener("submit", (event) => {
    event.preventDefault();
    const runs = new FormData(event.target).getAll("run");
    if (!runs.length) return;
    const query = runs.map((name) => `run=${encodeURIComponent(name)}`).join("&");
    window.open(`/report?${query}`, "_blank", "noopener");
  });
  $("back").addEventListener("click", () => step(Number($("where").value) - 1));
  $("on").addEventListener("click", () => step(Number($("where").value) + 1));
  $("where").addEventListener("input", () => step(Number($("where").value)));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select, textarea, [tabindex='0']")) return;
    if (event.key === "n") newStory();
    else if (event.key === "ArrowLeft") step(Number($("where").value) - 1);
    else if (event.key === "ArrowRight") step(Number($("where").value) + 1);
    else return;
    event.preventDefault();
  });
  window.addEventListener("hashchange", follow);

  async function start() {
    try {
      const found = await request("/api/start");
      benchmarks = found.benchmarks;
      options(dials.elements.benchmark, benchmarks.map((each) => [each.name, `${each.name} (${each.title})`]));
      const families = new Map(benchmarks.map((each) => [each.family, each.title]));
      options(text.elements.family, [["", "by the question"], ...families]);
      options(asking.elements.model, found.models.map((each) => each.name));
      options(asking.elements.prompt, found.prompts, "zero-shot");
      asking.elements.model.addEventListener("change", () => showPrompts(found.models));
      showPrompts(found.models);
      showDials();
      showFiles();
      if (!follow()) newStory();
    } catch (error) {
      say(error.message, true);
    }
  }

  start();
})();
