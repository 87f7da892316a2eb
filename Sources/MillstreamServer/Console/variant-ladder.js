// The variants of a stream from the lowest to the highest, each with a bar as long as its bit rate.

import { element, setAttribute, setHidden } from './element.js';
import { bitRateText, heightText } from './format.js';

export class VariantLadder {
    #list;
    #steps = [];

    constructor(list) {
        this.#list = list;
    }

    show(variants, limits) {
        const sorted = variants.toSorted((one, other) => one.bandwidth - other.bandwidth);
        const highest = sorted.at(-1)?.bandwidth;
        this.#steps = sorted.map((variant) => {
            const playing = element('span', { class: 'playing', text: 'playing' });
            playing.hidden = true;
            const codecs = (variant.codecs ?? []).map((codec) => codec.split('.')[0]).join(' + ');
            const item = element('li', {},
                element('span', { class: 'step-size', text: heightText(variant) || 'Audio' }),
                element('span', { class: 'step-rate', text: bitRateText(variant.bandwidth) }),
                element('span', { class: 'step-codecs', text: codecs }),
                playing);
            item.style.setProperty('--share', variant.bandwidth / highest);
            return { variant, item, playing };
        });
        this.#list.replaceChildren(...this.#steps.map(({ item }) => item));
        setHidden(this.#list, this.#steps.length === 0);
        this.showLimits(limits);
    }

    /** Dims what the limits leave out. */
    showLimits({ low, high }) {
        for (const { variant, item } of this.#steps) {
            const outside = variant.bandwidth < Number(low || 0) || variant.bandwidth > Number(high || Infinity);
            setAttribute(item, 'data-outside', outside ? 'true' : null);
        }
    }

    /** The browser tells the picture's size, not the variant; with two of one size nothing is marked. */
    showPicture(width, height) {
        const fitting = this.#steps.filter(({ variant, item }) =>
            variant.width === width && variant.height === height && !item.dataset.outside);
        for (const step of this.#steps) setHidden(step.playing, fitting.length !== 1 || step !== fitting[0]);
    }
}
