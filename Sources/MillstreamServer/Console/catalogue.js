// The catalogue: a grid of cards in the order of the server, and the field that narrows it.

import { setHidden, setTextOrHide } from './element.js';
import { KeyedList } from './keyed-list.js';
import { StreamCard } from './stream-card.js';

// With fewer streams than this a person sees them all at once.
const filterFrom = 9;

export class Catalogue {
    #inventory;
    #player;
    #list;
    #empty = document.getElementById('catalogue-empty');
    #filter = document.getElementById('filter');
    #filterRow = document.getElementById('filter-row');

    constructor(inventory, player, actions) {
        this.#inventory = inventory;
        this.#player = player;
        this.#list = new KeyedList(document.getElementById('cards'), (id) => new StreamCard(id, actions),
            document.getElementById('catalogue-title'));
        this.#filter.addEventListener('input', () => this.show());
    }

    show() {
        const { streams, pace } = this.#inventory;
        const words = this.#filter.value.toLowerCase().split(/\s+/).filter(Boolean);
        const found = streams.filter(({ name, detail = '', kind }) => {
            const text = `${name} ${detail} ${kind}`.toLowerCase();
            return words.every((word) => text.includes(word));
        });
        this.#list.show(found.map((stream) => [stream.id, {
            stream, pace, asset: this.#inventory.assetOf(stream), playing: this.#player.isPlaying(stream),
        }]));
        setHidden(this.#filterRow, streams.length < filterFrom);
        setTextOrHide(this.#empty, found.length > 0 ? '' : streams.length > 0
            ? 'No stream of the catalogue has these words.'
            : 'The catalogue is empty. Start the server with --catalog FILE to fill it, or paste an address above.');
    }
}
