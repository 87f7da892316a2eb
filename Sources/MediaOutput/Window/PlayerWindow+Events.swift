import CSDL2
import MediaTiming

extension PlayerWindow {
    /// Handles an SDL event.
    func handle(_ event: SDL_Event, at now: Duration) {
        switch SDL_EventType(rawValue: event.type) {
        case SDL_QUIT: onCommand(.quit)
        case SDL_WINDOWEVENT where event.window.windowID == canvas?.id: handle(event.window)
        case SDL_RENDER_TARGETS_RESET, SDL_RENDER_DEVICE_RESET:
            canvas?.reset()
            needsDrawing = true
        case SDL_KEYDOWN where event.key.windowID == canvas?.id:
            if let key = Key(event.key.keysym) { press(key, isRepeat: event.key.repeat != 0, at: now) }
        case SDL_TEXTINPUT where event.text.windowID == canvas?.id:
            if let key = Key(event.text) { press(key, isRepeat: false, at: now) }
        case SDL_MOUSEMOTION where event.motion.windowID == canvas?.id:
            move(event.motion, at: now)
        case SDL_MOUSEBUTTONDOWN where event.button.windowID == canvas?.id:
            press(event.button, at: now)
        case SDL_MOUSEBUTTONUP where event.button.windowID == canvas?.id:
            release(event.button, at: now)
        case SDL_MOUSEWHEEL where event.wheel.windowID == canvas?.id && event.wheel.y != 0:
            onCommand(.changeVolume(event.wheel.y > 0 ? 0.05 : -0.05))
        default: break
        }
    }

    private func handle(_ event: SDL_WindowEvent) {
        switch SDL_WindowEventID(rawValue: UInt32(event.event)) {
        case SDL_WINDOWEVENT_SIZE_CHANGED, SDL_WINDOWEVENT_DISPLAY_CHANGED: updatePixelSize()
        case SDL_WINDOWEVENT_EXPOSED, SDL_WINDOWEVENT_SHOWN, SDL_WINDOWEVENT_RESTORED: needsDrawing = true
        case SDL_WINDOWEVENT_LEAVE:
            controls.leave()
            needsDrawing = true
        // SDL does not send a quit event if the process has a second window.
        case SDL_WINDOWEVENT_CLOSE: onCommand(.quit)
        default: break
        }
    }

    private func press(_ key: Key, isRepeat: Bool, at now: Duration) {
        if key == .escape, canvas?.isFullScreen == true { return toggleFullScreen() }
        guard let command = KeyBindings.command(for: key, isRepeat: isRepeat, in: controls.overlay.barRange) else {
            return
        }
        if command.changesPosition {
            controls.showBar(at: now)
            needsDrawing = true
        }
        switch command {
        case .toggleFullScreen: toggleFullScreen()
        case .nextWindowSize:
            if let percent = canvas?.setNextSize() { announce("\(percent) %") }
            onCommand(command)
        default: onCommand(command)
        }
    }

    private func toggleFullScreen() {
        canvas?.toggleFullScreen()
        updatePixelSize()
        onCommand(.toggleFullScreen)
    }

    private func move(_ event: SDL_MouseMotionEvent, at now: Duration) {
        guard let canvas else { return }
        let point = canvas.pixels(x: event.x, y: event.y)
        controls.move(x: point.x, y: point.y, over: canvas.bar, at: now)
        needsDrawing = true
    }

    private func press(_ event: SDL_MouseButtonEvent, at now: Duration) {
        if event.button == Self.rightButton { return onCommand(.togglePause) }
        guard event.button == 1, let canvas else { return }
        let point = canvas.pixels(x: event.x, y: event.y)
        let command = controls.press(x: point.x, y: point.y, over: canvas.bar, at: now)
        needsDrawing = true
        if let command {
            onCommand(command)
        } else if event.clicks == 2, !controls.isDragging {
            toggleFullScreen()
        }
    }

    /// The number of the right mouse button.
    private static let rightButton: UInt8 = 3

    private func release(_ event: SDL_MouseButtonEvent, at now: Duration) {
        guard event.button == 1, let canvas else { return }
        let point = canvas.pixels(x: event.x, y: event.y)
        let command = controls.release(x: point.x, y: point.y, over: canvas.bar, at: now)
        needsDrawing = true
        if let command { onCommand(command) }
    }
}

extension Key {
    /// Creates a key from an SDL key symbol; returns `nil` for keys without a meaning, and for characters that depend
    /// on the keyboard layout.
    init?(_ symbol: SDL_Keysym) {
        let modifiers = Int32(symbol.mod)
        let held = Int32(clamping: KMOD_CTRL.rawValue | KMOD_ALT.rawValue | KMOD_GUI.rawValue | KMOD_MODE.rawValue)
        guard modifiers & held == 0 else { return nil }
        switch symbol.sym {
        case Int32(clamping: SDLK_LEFT.rawValue): self = .left
        case Int32(clamping: SDLK_RIGHT.rawValue): self = .right
        case Int32(clamping: SDLK_UP.rawValue): self = .up
        case Int32(clamping: SDLK_DOWN.rawValue): self = .down
        case Int32(clamping: SDLK_HOME.rawValue): self = .home
        case Int32(clamping: SDLK_END.rawValue): self = .end
        case Int32(clamping: SDLK_PAGEUP.rawValue): self = .pageUp
        case Int32(clamping: SDLK_PAGEDOWN.rawValue): self = .pageDown
        case Int32(clamping: SDLK_ESCAPE.rawValue): self = .escape
        case Int32(clamping: SDLK_BACKSPACE.rawValue): self = .backspace
        case let code where (0x20...0x7E).contains(code):
            let character = Character(UnicodeScalar(UInt8(clamping: code)))
            // The position of punctuation depends on the layout and may require a modifier, so it is received as text.
            guard character.isLetter || character.isNumber || character == " " else { return nil }
            self = .character(character)
        default: return nil
        }
    }

    /// Creates a key from typed punctuation.
    init?(_ event: SDL_TextInputEvent) {
        let text = withUnsafeBytes(of: event.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        guard text.count == 1, let character = text.first, "[].,?".contains(character) else { return nil }
        self = .character(character)
    }
}
