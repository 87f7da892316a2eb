import CSDL2
import Foundation
import Synchronization

/// The SDL subsystems in use, which are shared by the whole process.
enum SDLRuntime {
    private static let lock = Mutex(())

    /// Initializes a subsystem; each call must be balanced by a call of ``release(_:)``.
    ///
    /// - Throws: The error message of SDL.
    static func initialize(_ part: UInt32) throws(Failure) {
        let message = lock.withLock { _ -> String? in
            // The application decides about signal handlers, not a library.
            SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1")
            SDL_SetHint(SDL_HINT_AUDIO_RESAMPLING_MODE, "2")
            SDL_SetMainReady()
            if part & SDL_INIT_VIDEO != 0 { omitWaylandWithoutServer() }
            return SDL_InitSubSystem(part) == 0 ? nil : lastError
        }
        if let message { throw Failure(message: message) }
    }

    /// Lets SDL try all video drivers except Wayland if there is no Wayland server, since its library writes an error to
    /// standard error.
    ///
    /// The environment variable `SDL_VIDEODRIVER` takes precedence.
    private static func omitWaylandWithoutServer() {
        let environment = ProcessInfo.processInfo.environment
        guard environment["WAYLAND_DISPLAY"]?.isEmpty != false, environment["XDG_RUNTIME_DIR"]?.isEmpty != false else {
            return
        }
        var version = SDL_version()
        unsafe SDL_GetVersion(&version)
        // Earlier versions accept only one driver.
        guard (version.major, version.minor, version.patch) >= (2, 0, 22) else { return }
        let drivers = (0..<SDL_GetNumVideoDrivers()).compactMap { index in
            SDL_GetVideoDriver(index).map { String(cString: $0) }
        }
        let others = drivers.filter { $0 != "wayland" }
        if others.count < drivers.count { SDL_SetHint(SDL_HINT_VIDEODRIVER, others.joined(separator: ",")) }
    }

    static func release(_ part: UInt32) { lock.withLock { _ in SDL_QuitSubSystem(part) } }

    /// The video drivers of SDL that draw into memory, which SDL selects if there is no display.
    private static let driversWithoutDisplay: Set<String> = ["dummy", "evdev", "offscreen"]

    /// A Boolean value that indicates whether the initialized video driver shows windows to a person.
    ///
    /// A driver that draws into memory counts as a display only if the environment variable `SDL_VIDEODRIVER` names it.
    static var hasDisplay: Bool {
        guard let driver = SDL_GetCurrentVideoDriver().map({ String(cString: $0) }) else { return false }
        guard driversWithoutDisplay.contains(driver) else { return true }
        let named = ProcessInfo.processInfo.environment["SDL_VIDEODRIVER"] ?? ""
        return named.split(separator: ",").contains { $0 == driver }
    }

    /// SDL's message for the last failure on this thread.
    static var lastError: String { String(cString: SDL_GetError()) }

    struct Failure: Error { let message: String }
}
