// The landing page's game. The page is complete without it: every case with its answer, and the
// judges' rates. Here the answers wait until all cases are judged. Nothing is stored or sent.
"use strict";

(() => {
  const game = document.querySelector(".tj-game");
  if (!game) return;
  const part = (name) => game.querySelector(`.tj-${name}`);
  const [list, ask, told, result, you, again] =
    ["cases", "ask", "told", "result", "you", "again"].map(part);
  const rates = Object.entries(JSON.parse(part("known").textContent));
  const title = result.querySelector("h3");
  const chart = result.querySelector('.tj-chart script[type="application/json"]');
  const judges = chart.textContent; // the chart without the reader
  const cases = [...list.children].map((item) => ({
    item,
    kind: item.dataset.kind,
    heading: item.querySelector("h3"),
    shown: item.querySelector("dl"),
    answer: item.querySelector("details"),
    summary: item.querySelector("summary"),
  }));
  let flags = []; // of the cases judged so far: was it flagged?

  // The reader's share of flags for each rate, as the build worked it out.
  const own = () =>
    rates.map(([what, { of, rows }]) => {
      const flagged = cases.filter(({ kind }, at) => of.includes(kind) && flags[at]).length;
      return { judge: "you", what, ...rows[flagged] };
    });

  const putIntoChart = (rows, sentence) => {
    const spec = JSON.parse(judges);
    const [sort] = spec.layer.map((layer) => layer.encoding.y.sort);
    const names = ["you", ...sort];
    spec.layer.forEach((layer) => (layer.encoding.y.sort = names));
    Object.values(spec.datasets).forEach((data) => data.unshift(...rows));
    spec.height *= names.length / sort.length;
    spec.description = `${sentence} ${spec.description}`;
    chart.textContent = JSON.stringify(spec);
  };

  const showCase = (at) =>
    cases.forEach(({ item, heading, shown, answer }, each) => {
      item.hidden = each !== at;
      heading.hidden = false;
      heading.after(shown);
      answer.hidden = true;
      answer.open = false;
    });

  const start = () => {
    flags = [];
    showCase(0);
    game.append(result);
    result.hidden = true;
    ask.hidden = false;
    told.textContent = "";
  };

  const finish = () => {
    const rows = own();
    const count = Object.fromEntries(rows.map(({ what, shown }) => [what, shown.split(":")[0]]));
    const sentence =
      `You flagged ${count.silent} silent faults, ${count.loud} loud ones, ` +
      `and ${count["false alarm"]} clean runs.`;
    putIntoChart(rows, sentence);
    rows.forEach(({ shown }, at) => (you.querySelectorAll("td")[at].textContent = shown));
    cases.forEach(({ item, heading, shown, answer, summary, kind }, at) => {
      const right = flags[at] === (kind !== "clean") ? "right" : "wrong";
      const what = kind === "clean" ? "it was clean" : `it had a ${kind} fault`;
      const said = flags[at] ? "something is wrong" : "handled well";
      summary.textContent = `Case ${at + 1}: you said “${said}”, ${what} - you were ${right}`;
      summary.after(shown);
      item.hidden = answer.hidden = false;
      heading.hidden = true;
    });
    part("sentence").textContent = sentence;
    title.textContent = "You beside the five judges";
    ask.hidden = true;
    list.before(result);
    result.hidden = you.hidden = again.hidden = false;
    told.textContent = "";
    title.focus();
  };

  ask.addEventListener("click", ({ target }) => {
    if (!(target instanceof HTMLButtonElement)) return;
    flags.push(Boolean(target.dataset.flag));
    if (flags.length === cases.length) return finish();
    showCase(flags.length);
    told.textContent = `${flags.length} of ${cases.length} judged.`;
    cases[flags.length].heading.focus();
  });

  again.addEventListener("click", ({ target }) => {
    if (!(target instanceof HTMLButtonElement)) return;
    start();
    cases[0].heading.focus();
  });

  start();
})();
