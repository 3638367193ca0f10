"use strict";
// Plays true and imagined frames in step. Frames lie row by row in one picture per clip and row.
const SPEEDS = [1, 0.5, 0.25, 0.1];
const SHORTEST = 2.5; // seconds a clip should last at its first speed

function player(card) {
  const data = card.dataset;
  const [frames, columns, width, height, fps, context] =
    ["frames", "columns", "width", "height", "fps", "context"].map((name) => Number(data[name]));
  const [begins, ends] = ["begins", "ends"].map((name) => Number(data[name] ?? -1)); // of the worst window
  const images = [...card.querySelectorAll("img")];
  const canvases = [...card.querySelectorAll("canvas")];
  const [slider, toggle, speed, difference, label] =
    ["slider", "toggle", "speed", "difference", "label"].map((name) => card.querySelector(`[data-is=${name}]`));
  let at = 0, playing = false, last = 0;

  const place = () => [(at % columns) * width, Math.floor(at / columns) * height, width, height];
  function draw() {
    canvases.forEach((canvas, row) => {
      const pen = canvas.getContext("2d");
      pen.globalCompositeOperation = "source-over";
      pen.drawImage(images[row], ...place(), 0, 0, width, height);
      if (row === 1 && difference?.checked) {
        pen.globalCompositeOperation = "difference";
        pen.drawImage(images[0], ...place(), 0, 0, width, height);
      }
    });
    slider.value = at;
    if (ends >= 0) {
      const worst = at >= begins && at < ends;
      label.textContent = worst ? "worst window" : at < begins ? "before" : "after";
      label.classList.toggle("imagining", worst);
      return;
    }
    const shown = at < context;
    label.textContent = shown ? `shown ${at + 1} of ${context}` : `+${at - context + 1} of ${frames - context}`;
    label.classList.toggle("imagining", !shown);
  }
  function go(to) { at = ((to % frames) + frames) % frames; draw(); }
  function play(on) {
    playing = on;
    toggle.textContent = on ? "❚❚" : "▶";
    toggle.setAttribute("aria-label", on ? "pause" : "play");
    last = performance.now();
    if (on) requestAnimationFrame(tick);
  }
  function tick(now) {
    if (!playing) return;
    const pace = 1000 / (fps * Number(speed.value));
    const steps = Math.floor((now - last) / pace);
    if (steps > 0) { last += steps * pace; go(at + steps); }
    requestAnimationFrame(tick);
  }
  const wanted = SPEEDS.find((s) => frames / fps / s >= SHORTEST) ?? SPEEDS.at(-1);
  speed.value = String(wanted);
  toggle.addEventListener("click", () => play(!playing));
  card.querySelector("[data-is=back]").addEventListener("click", () => { play(false); go(at - 1); });
  card.querySelector("[data-is=forward]").addEventListener("click", () => { play(false); go(at + 1); });
  slider.addEventListener("input", () => { play(false); go(Number(slider.value)); });
  difference?.addEventListener("change", draw);
  return Promise.all(images.map((image) => image.decode())).then(() => { draw(); return { play, go }; });
}

const cards = [...document.querySelectorAll(".clip")];
Promise.all(cards.map(player)).then((players) => {
  const all = document.querySelector("[data-is=all]");
  if (!all) return;
  let playing = false;
  const set = (on) => {
    playing = on;
    all.textContent = on ? "❚❚ pause all" : "▶ play all in step";
    players.forEach((one) => { if (on) one.go(0); one.play(on); });
  };
  all.addEventListener("click", () => set(!playing));
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) set(true);
});
