// The library: everything that is kept, also what the catalogue does not have.

import { AssetRow } from './asset-row.js';
import { setHidden, setTextOrHide } from './element.js';
import { sizeText } from './format.js';
import { KeyedList } from './keyed-list.js';

export class Library {
    #inventory;
    #list;
    #table = document.getElementById('assets');
    #total = document.getElementById('library-total');
    #empty = document.getElementById('library-empty');

    constructor(inventory, actions) {
        this.#inventory = inventory;
        this.#list = new KeyedList(document.getElementById('asset-rows'), (id) => new AssetRow(id, actions),
            document.getElementById('library-title'));
    }

    show() {
        const { assets, pace } = this.#inventory;
        const bytes = assets.reduce((sum, asset) => sum + (asset.bytes ?? 0), 0);
        this.#list.show(assets.map((asset) => [asset.id, { asset, pace }]));
        setHidden(this.#table, assets.length === 0);
        setTextOrHide(this.#total, assets.length > 0
            ? `${assets.length} kept ${assets.length === 1 ? 'asset' : 'assets'} · ${sizeText(bytes)} in total` : '');
        setTextOrHide(this.#empty, assets.length > 0 ? ''
            : 'Nothing is kept yet. Download a stream, and it plays from here even when its origin is away.');
    }
}
