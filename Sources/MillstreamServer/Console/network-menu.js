// The network that the player is put behind. It can be changed while a stream plays: what is on its way gets slower or faster.

import { readConditions } from './api.js';
import { element, setText, setTextOrHide } from './element.js';

const find = (id) => document.getElementById(id);

/** Events: `change` when a person chose another network. */
export class NetworkMenu extends EventTarget {
    #select = find('network');

    constructor() {
        super();
        this.#select.addEventListener('change', () => {
            this.#showNote();
            this.dispatchEvent(new Event('change'));
        });
        this.#showNote();
    }

    /** The name of the conditions; nothing where the network is to be as it is. */
    get value() {
        return this.#select.value;
    }

    /** Reads what there is to choose from. */
    async read() {
        const { presets, shared } = await readConditions();
        const chosen = this.#select.value;
        const asItIs = this.#select.options[0];
        setText(asItIs, shared === 'Off' ? 'As it is' : `As the server has it: ${shared}`);
        this.#select.replaceChildren(asItIs, ...presets.map((name) => element('option', { value: name, text: name })));
        this.#select.value = presets.includes(chosen) ? chosen : '';
    }

    #showNote() {
        setTextOrHide(find('network-note'), this.value
            ? 'Playlists and media come as if over this network. Change it while the stream plays.' : '');
    }
}
