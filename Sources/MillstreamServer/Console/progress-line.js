// The bar of a running download with its speed and the time it still takes.

import { percentOf } from './asset-state.js';
import { element, setAttribute, setHidden, setProgress, setText } from './element.js';
import { percentText, remainingText, sizeText } from './format.js';

export class ProgressLine {
    #bar = element('progress', { max: 100 });
    #text = element('span', { class: 'progress-text' });
    element = element('div', { class: 'progress' }, this.#bar, this.#text);

    /** Shows the download of `asset`, or nothing. */
    update(asset, title, pace) {
        setHidden(this.element, !asset);
        if (!asset) return;
        const percent = percentOf(asset);
        const { bytesPerSecond, secondsLeft, secondsStalled } = pace.figureOf(asset.id);
        setProgress(this.#bar, percent);
        setAttribute(this.#bar, 'aria-label', `Download of ${title}`);
        setText(this.#text, [
            percent === null ? 'Preparing' : percentText(percent),
            sizeText(asset.bytes),
            bytesPerSecond > 0 ? `${sizeText(bytesPerSecond)}/s` : '',
            remainingText(secondsLeft),
            secondsStalled > 0 ? `stalled for ${Math.floor(secondsStalled)} s` : '',
        ].filter(Boolean).join(' · '));
    }
}
