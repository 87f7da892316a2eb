// The charts of the last two minutes of playback: buffer, throughput, height of the picture, dropped frames, and the latency of
// live streams. Vertical marks show events: red where playback waits for data, or where a segment cannot be played.

import { setHidden, setText } from './element.js';
import { forwardBuffer } from './now-playing.js';

const sampleIntervalMilliseconds = 500;
/** The minimum time for a measurement of the throughput: reports can follow each other closely. */
const minimumMeasurementMilliseconds = 500;
/** The time after which a measurement is no longer the present one, because the server does not respond. */
const maximumMeasurementMilliseconds = 3000;
const windowSeconds = 120;
const rowHeight = 46;
const labelWidth = 132;
// The space for the highest value, to the right of each chart.
const maximumWidth = 52;

const rows = [
    { name: 'Buffer', unit: 's', value: ({ buffer }) => buffer, digits: 1 },
    { name: 'Throughput', unit: 'Mbit/s', value: ({ throughput }) => throughput, digits: 2, isStepped: true, showsLast: true },
    { name: 'Picture height', unit: 'px', value: ({ height }) => height, digits: 0, isStepped: true },
    { name: 'Dropped frames', unit: '', value: ({ dropped }) => dropped, digits: 0, isStepped: true },
    { name: 'Behind live', unit: 's', value: ({ latency }) => latency, digits: 1, isOptional: true },
];

/** The minimum number of bytes in a measurement that can be media: what is less is a playlist. */
const minimumMediaBytes = 4096;

/** The end of a live stream, which moves on while its playlist has no new segment. */
export class LiveEnd {
    #end;
    // The time at which the end has changed, in milliseconds.
    #time;

    /** Returns the distance of a position from the end that a playlist would have; positions are in seconds, `now` is in milliseconds. */
    distance(position, end, now) {
        if (end !== this.#end) {
            this.#end = end;
            this.#time = now;
        }
        return end - position + (now - this.#time) / 1000;
    }
}

export class Charts {
    #video;
    #player;
    #details = document.getElementById('charts');
    #canvas = document.getElementById('charts-canvas');
    #summary = document.getElementById('charts-summary');
    #samples = [];
    #marks = [];
    // The bytes that the link of the stream has transmitted, with the time of the measurement.
    #transmitted;
    #throughput;
    #liveEnd = new LiveEnd();

    constructor(video, player, serverConditions) {
        this.#video = video;
        this.#player = player;
        for (const name of ['waiting', 'seeking', 'playing']) video.addEventListener(name, () => this.#mark(name));
        video.addEventListener('resize', () => this.#mark('variant'));
        player.addEventListener('recovery', () => this.#mark('recovery'));
        player.addEventListener('select', () => this.#reset());
        player.addEventListener('load', () => {
            this.#transmitted = { bytes: player.link?.transmittedBytes ?? 0, time: performance.now() };
        });
        serverConditions.addEventListener('change', () => this.#measureThroughput());
        this.#details.addEventListener('toggle', () => this.#draw());
        setInterval(() => this.#sample(), sampleIntervalMilliseconds);
    }

    /** Whether the charts show the throughput at present, which each report of the server has. */
    get needsReports() {
        return this.#details.open && !this.#details.hidden && Boolean(this.#player.selection);
    }

    #reset() {
        this.#samples = [];
        this.#marks = [];
        this.#transmitted = undefined;
        this.#throughput = undefined;
        this.#liveEnd = new LiveEnd();
        setHidden(this.#details, !this.#player.selection || !this.#player.canPlay);
        this.#draw();
    }

    #mark(name) {
        this.#marks.push({ time: performance.now(), name });
    }

    #sample() {
        const { selection } = this.#player;
        if (!selection || !this.#player.canPlay) return;
        const video = this.#video;
        const now = performance.now();
        const { seekable, currentTime, duration } = video;
        const isLive = duration === Infinity && seekable.length > 0;
        if (!(now - this.#transmitted?.time < maximumMeasurementMilliseconds)) this.#throughput = undefined;
        this.#samples.push({
            time: now,
            buffer: forwardBuffer(video),
            throughput: this.#throughput,
            height: video.videoHeight || undefined,
            dropped: video.getVideoPlaybackQuality?.().droppedVideoFrames,
            latency: isLive ? this.#liveEnd.distance(currentTime, seekable.end(seekable.length - 1), now) : undefined,
        });
        const first = now - windowSeconds * 1000;
        this.#samples = this.#samples.filter(({ time }) => time >= first);
        this.#marks = this.#marks.filter(({ time }) => time >= first);
        this.#draw();
    }

    /** Measures the throughput of the link through which the server sends the stream. */
    #measureThroughput() {
        const bytes = this.#player.link?.transmittedBytes;
        const last = this.#transmitted;
        const time = performance.now();
        if (bytes === undefined || (last && time - last.time < minimumMeasurementMilliseconds)) return;
        this.#transmitted = { bytes, time };
        if (!last || bytes < last.bytes) {
            this.#throughput = undefined;
            return;
        }
        const amount = bytes - last.bytes;
        const rate = amount * 8 / (time - last.time) / 1000;
        const { readyState, paused, ended } = this.#video;
        const isWaiting = readyState < HTMLMediaElement.HAVE_FUTURE_DATA && !paused && !ended;
        // While enough is buffered, no media is requested, and what the browser loads from its cache or the origin is not in the report.
        const hasMedia = amount >= minimumMediaBytes;
        this.#throughput = hasMedia || (isWaiting && !this.#player.error) ? rate : undefined;
    }

    #draw() {
        if (!this.#details.open || this.#details.hidden) return;
        const shown = rows.filter(({ isOptional, value }) => !isOptional || this.#samples.some((sample) => value(sample) !== undefined));
        const canvas = this.#canvas;
        const scale = devicePixelRatio || 1;
        const [width, height] = [canvas.clientWidth, shown.length * rowHeight];
        if (width === 0) return;
        canvas.style.height = `${height}px`;
        // Setting the size clears the canvas.
        canvas.width = Math.round(width * scale);
        canvas.height = Math.round(height * scale);
        const context = canvas.getContext('2d');
        context.scale(scale, scale);
        const style = getComputedStyle(canvas);
        const color = (name) => style.getPropertyValue(name);
        const end = this.#samples.at(-1)?.time ?? performance.now();
        const right = width - maximumWidth;
        const position = (time) => right - (end - time) / 1000 * (right - labelWidth) / windowSeconds;
        context.font = `12px ${style.fontFamily}`;
        const texts = shown.map((row, index) => this.#drawRow(context, row, index * rowHeight, right, position, color));
        for (const { time, name } of this.#marks) {
            const x = Math.round(position(time)) + 0.5;
            if (x < labelWidth) continue;
            context.strokeStyle = ['waiting', 'recovery'].includes(name) ? color('--danger') : color('--edge');
            context.setLineDash(name === 'waiting' ? [] : [2, 3]);
            context.beginPath();
            context.moveTo(x, 0);
            context.lineTo(x, height);
            context.stroke();
        }
        context.setLineDash([]);
        setText(this.#summary, `The last two minutes. ${texts.join(', ')}.`);
    }

    /** Draws a row, and returns its latest value as text. */
    #drawRow(context, { name, unit, value, digits, isStepped, showsLast }, top, right, position, color) {
        const points = this.#samples.map((sample) => [position(sample.time), value(sample)]);
        const values = points.map(([, y]) => y).filter((y) => y !== undefined);
        const maximum = Math.max(...values, 1e-9);
        const last = points.at(-1)?.[1];
        const format = (amount) => `${amount.toFixed(digits)} ${unit}`.trim();
        const text = last !== undefined ? format(last)
            : !showsLast ? '–' : values.length > 0 ? `– (last ${format(values.at(-1))})` : 'not measured';
        context.fillStyle = color('--muted');
        context.fillText(name, 0, top + 18);
        context.fillStyle = color('--ink');
        context.fillText(text, 0, top + 34);
        context.strokeStyle = color('--line');
        context.strokeRect(labelWidth + 0.5, top + 4.5, right - labelWidth - 1, rowHeight - 9);
        context.strokeStyle = color('--accent');
        context.lineWidth = 1.5;
        context.beginPath();
        let previous;
        for (const [x, amount] of points) {
            if (amount === undefined) {
                previous = undefined;
                continue;
            }
            const y = top + rowHeight - 7 - amount / maximum * (rowHeight - 16);
            if (previous === undefined) context.moveTo(x, y);
            else if (isStepped) context.lineTo(x, previous);
            context.lineTo(x, y);
            previous = y;
        }
        context.stroke();
        context.lineWidth = 1;
        if (values.length > 0) {
            context.fillStyle = color('--muted');
            const label = maximum < 1e-6 ? '0' : maximum.toFixed(digits);
            context.fillText(label, right + 6, top + 14);
        }
        return `${name}: ${text}`;
    }
}
