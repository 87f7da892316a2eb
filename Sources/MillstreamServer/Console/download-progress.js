// The progress bar of a download, with its speed and the time remaining.

import { downloadedPercent } from './asset-state.js';
import { createElement, setAttribute, setHidden, setProgress, setText } from './element.js';
import { formatBitRate, formatPercent, formatSize, formatTimeRemaining } from './format.js';

export class DownloadProgress {
    #bar = createElement('progress', { max: 100 });
    #text = createElement('span', { class: 'progress-text' });
    element = createElement('div', { class: 'progress' }, this.#bar, this.#text);

    /** Shows the progress of `asset`, or hides the element without one. */
    update(asset, title, downloadSpeed, size) {
        setHidden(this.element, !asset);
        if (!asset) return;
        const percent = downloadedPercent(asset);
        const { bytesPerSecond, secondsLeft, secondsStalled } = downloadSpeed.estimate(asset.id);
        setProgress(this.#bar, percent);
        setAttribute(this.#bar, 'aria-label', `Download progress of ${title}`);
        setText(this.#text, [
            percent === null ? 'Preparing' : formatPercent(percent),
            formatSize(size),
            bytesPerSecond > 0 ? formatBitRate(bytesPerSecond * 8) : '',
            formatTimeRemaining(secondsLeft),
            secondsStalled > 0 ? `stalled for ${Math.floor(secondsStalled)} s` : '',
        ].filter(Boolean).join(' · '));
    }
}
