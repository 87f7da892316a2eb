// The disk space of each download, the downloads to keep, and what is deleted to make space available.

import { artworkURL, changeStoragePolicy, evictAssets, fetchStorage } from './api.js';
import { confirmDeletion } from './confirm-deletion.js';
import { createElement, setAttribute, setHidden, setText, setTextOrHide } from './element.js';
import { errorMessage } from './error-message.js';
import { formatSize } from './format.js';
import { KeyedList } from './keyed-list.js';
import { dismissErrors, showError, showMessage } from './messages.js';

/** The time between requests while downloads change, in milliseconds. */
const interval = 2000;

const reasons = { expired: 'has expired' };

class StorageRow {
    element;
    #artwork = createElement('img', { class: 'asset-artwork', alt: '', loading: 'lazy' });
    #title = createElement('span', { class: 'asset-title' });
    #size = createElement('span', { class: 'size' });
    #keep = createElement('input', { type: 'checkbox' });

    constructor(id, onKeep) {
        this.#keep.addEventListener('change', () => onKeep(id, this.#keep.checked, this.#title.textContent));
        this.element = createElement('li', { dataset: { assetId: id } }, this.#artwork, this.#title, this.#size,
            createElement('label', { class: 'checkbox' }, this.#keep, ' Keep'));
    }

    update({ id, title, bytes, artwork, policy }) {
        const source = artworkURL({ id, artwork });
        setAttribute(this.#artwork, 'src', source);
        setHidden(this.#artwork, !source);
        setText(this.#title, title);
        setText(this.#size, formatSize(bytes));
        this.#keep.setAttribute('aria-label', `Keep ${title} when space is needed`);
        if (document.activeElement !== this.#keep) this.#keep.checked = policy.pinned;
    }
}

export class Storage {
    #store;
    #list;
    #section = document.getElementById('storage');
    #total = document.getElementById('storage-total');
    #need = document.getElementById('eviction-need');
    #plan = document.getElementById('eviction-plan');
    #summary = document.getElementById('eviction-summary');
    #planned = document.getElementById('eviction-assets');
    #evict = document.getElementById('evict');
    #error = document.getElementById('eviction-error');
    #shown = '';
    #isLoading = false;
    #loadedAt = -Infinity;

    constructor(store) {
        this.#store = store;
        this.#list = new KeyedList(document.getElementById('storage-assets'),
            (id) => new StorageRow(id, (...change) => this.#keep(...change)), document.getElementById('storage-title'));
        document.getElementById('eviction').addEventListener('submit', (event) => {
            event.preventDefault();
            this.#showPlan();
        });
        this.#need.addEventListener('change', () => {
            setHidden(this.#plan, true);
            setTextOrHide(this.#error, '');
        });
        this.#evict.addEventListener('click', () => this.#deletePlanned());
    }

    /** Loads the sizes again if downloads have changed. */
    update() {
        const { assets } = this.#store;
        setHidden(this.#section, assets.length === 0);
        // The files of a download that are not complete have sizes as well.
        const state = JSON.stringify(assets.map(
            ({ id, bytes, percent, activity, artwork }) => [id, bytes, percent, activity, artwork]));
        if (assets.length === 0 || state === this.#shown || this.#isLoading) return;
        this.#isLoading = true;
        const wait = Math.max(0, this.#loadedAt + interval - performance.now());
        setTimeout(async () => {
            this.#shown = state;
            await this.#load().catch(() => {});
            this.#loadedAt = performance.now();
            this.#isLoading = false;
            this.update();
        }, wait);
    }

    async #load(need = 0) {
        const storage = await fetchStorage(need);
        const free = storage.free === undefined ? '' : ` · ${formatSize(storage.free)} free`;
        const { quota, minimumFreeSpace } = storage.limits;
        const limit = quota === undefined ? '' : ` of at most ${formatSize(quota)}`;
        const floor = minimumFreeSpace > 0 ? `, ${formatSize(minimumFreeSpace)} stay free` : '';
        setText(this.#total, `${formatSize(storage.used)} used${limit}${free}${floor}`);
        const largestFirst = storage.assets.toSorted((one, other) => other.bytes - one.bytes);
        this.#list.update(largestFirst.map((asset) => [asset.id, asset]));
        this.#store.updateDiskSizes(storage.assets);
        return storage;
    }

    /** Tells that the server has deleted a download by itself. */
    showEviction({ title, freed, reason }) {
        const cause = reason === 'expired' ? 'it has expired' : 'space was needed';
        showMessage(`“${title}” was deleted, because ${cause}. ${formatSize(freed)} are free again.`);
    }

    async #keep(id, pinned, title) {
        try {
            await changeStoragePolicy(id, { pinned });
            dismissErrors('policy');
            setHidden(this.#plan, true);
        } catch (error) {
            showError(`“${title}” could not be changed. ${errorMessage(error)}`, 'policy');
        }
        await this.#load().catch(() => {});
    }

    async #showPlan() {
        setTextOrHide(this.#error, '');
        setHidden(this.#plan, true);
        try {
            // The need includes what is free already, so only the rest has to be deleted.
            const { eviction } = await this.#load(Number(this.#need.value));
            const { evicted, freed, shortfall, insufficient = [] } = eviction;
            this.#planned.replaceChildren(...(evicted.length > 0 ? evicted : insufficient).map((entry) => createElement('li',
                { text: `${entry.title}, ${formatSize(entry.freed)}${reasons[entry.reason] ? ` (${reasons[entry.reason]})` : ''}` })));
            const size = this.#need.selectedOptions[0].text;
            const missing = shortfall > 0 ? ` ${formatSize(shortfall)} would still be missing.` : '';
            const unavailable = insufficient.length > 0
                ? `Deleting all downloads that can be deleted would not be enough, so none of these is deleted.${missing}`
                : `No download can be deleted.${missing}`;
            const others = insufficient.length > 0 ? ' Deleting all others too would not be enough.' : '';
            setText(this.#summary, evicted.length === 0
                ? shortfall > 0 ? unavailable : `${size} are available: nothing has to be deleted.`
                : `These downloads would be deleted, which frees ${formatSize(freed)}.${others}${missing}`);
            setHidden(this.#evict, evicted.length === 0);
            setHidden(this.#plan, false);
        } catch (error) {
            setTextOrHide(this.#error, errorMessage(error));
        }
    }

    async #deletePlanned() {
        const count = this.#planned.children.length;
        if (!(await confirmDeletion(`${count} ${count === 1 ? 'download' : 'downloads'} of the list. The streams at their origins are not affected.`))) return;
        try {
            const { evicted, freed } = await evictAssets(Number(this.#need.value));
            dismissErrors('eviction');
            showMessage(`${evicted.length} ${evicted.length === 1 ? 'download was' : 'downloads were'} deleted, which freed ${formatSize(freed)}.`);
            setHidden(this.#plan, true);
        } catch (error) {
            showError(`The downloads could not be deleted. ${errorMessage(error)}`, 'eviction');
        }
        await this.#store.load().catch(() => {});
    }
}
