// The variants of a stream by bandwidth, each with a bar in proportion to it.

import { createElement, setAttribute, setHidden } from './element.js';
import { formatBitRate, formatResolution, isAudioOnly } from './format.js';

export class VariantList {
    #list;
    #entries = [];

    constructor(list) {
        this.#list = list;
    }

    show(variants, limits) {
        const sorted = variants.toSorted((one, other) => one.bandwidth - other.bandwidth);
        const maximumBandwidth = sorted.at(-1)?.bandwidth;
        this.#entries = sorted.map((variant) => {
            const playing = createElement('span', { class: 'playing', text: 'Playing' });
            playing.hidden = true;
            const codecs = (variant.codecs ?? []).map((codec) => codec.split('.')[0]).join(' + ');
            const item = createElement('li', {},
                createElement('span', {
                    class: 'variant-resolution',
                    text: formatResolution(variant) || (isAudioOnly(variant) ? 'Audio' : 'Size unknown'),
                }),
                createElement('span', { class: 'variant-bandwidth', text: formatBitRate(variant.bandwidth) }),
                createElement('span', { class: 'variant-codecs', text: codecs, title: variant.codecs?.join(', ') }),
                playing);
            item.style.setProperty('--share', variant.bandwidth / maximumBandwidth);
            return { variant, item, playing };
        });
        this.#list.replaceChildren(...this.#entries.map(({ item }) => item));
        setHidden(this.#list, this.#entries.length === 0);
        this.updateLimits(limits);
    }

    /** Dims the variants that the limits exclude. */
    updateLimits({ minimumBandwidth, maximumBandwidth }) {
        for (const { variant, item } of this.#entries) {
            const isExcluded = variant.bandwidth < Number(minimumBandwidth || 0)
                || variant.bandwidth > Number(maximumBandwidth || Infinity);
            setAttribute(item, 'data-excluded', isExcluded ? 'true' : null);
        }
    }

    /** Marks the variant of the given resolution, the only thing that browsers report, if exactly one has it. */
    markPlaying(width, height) {
        const matches = this.#entries.filter(({ variant, item }) =>
            variant.width === width && variant.height === height && !item.dataset.excluded);
        for (const entry of this.#entries) setHidden(entry.playing, matches.length !== 1 || entry !== matches[0]);
    }
}
