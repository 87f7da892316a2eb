import CSDL2
import Foundation
import MediaTiming

/// An SDL window and its renderer.
///
/// SDL requires that it is used only on the main thread.
struct WindowSurface: ~Copyable {
    let window: OpaquePointer
    let renderer: OpaquePointer
    /// A Boolean value that indicates whether the CPU draws, because there is no GPU or only one that is emulated.
    let isSoftware: Bool
    /// The full screen mode without a window manager; `nil` if the window system changes the mode.
    private let unmanagedScreen: UnmanagedScreen?

    /// Creates and opens a window.
    ///
    /// - Throws: ``OutputError`` with ``OutputError/Code/noWindow``.
    init(_ title: String, _ options: PlayerWindow.Options) throws(OutputError) {
        // SDL restores the handler of errors that it found, before it closes its connections to an X server.
        millstream_ignore_late_wakeups()
        do { try SDLRuntime.initialize(SDL_INIT_VIDEO) } catch { throw Self.failure(error.message) }
        guard SDLRuntime.hasDisplay else {
            SDLRuntime.release(SDL_INIT_VIDEO)
            throw Self.failure("there is no display")
        }
        SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "1")
        SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0")
        SDL_SetHint(SDL_HINT_MOUSE_FOCUS_CLICKTHROUGH, "1")
        let size = Self.fitted(options.size)
        var flags = SDL_WINDOW_RESIZABLE.rawValue | SDL_WINDOW_ALLOW_HIGHDPI.rawValue
        let isX11 = SDL_GetCurrentVideoDriver().map { String(cString: $0) } == "x11"
        let isUnmanaged = isX11 && millstream_has_window_manager() == 0
        if options.isFullScreen, !isUnmanaged { flags |= SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue }
        let center = millstream_window_position_centered()
        guard
            let window = SDL_CreateWindow(
                title,
                center,
                center,
                Int32(clamping: size.width),
                Int32(clamping: size.height),
                flags
            )
        else {
            let message = SDLRuntime.lastError
            SDLRuntime.release(SDL_INIT_VIDEO)
            throw Self.failure(message)
        }
        SDL_SetWindowMinimumSize(window, 160, 90)
        guard let (renderer, isSoftware) = Self.makeRenderer(window, options.renderer) else {
            let message = SDLRuntime.lastError
            SDL_DestroyWindow(window)
            SDLRuntime.release(SDL_INIT_VIDEO)
            throw Self.failure(message)
        }
        self.window = window
        self.renderer = renderer
        self.isSoftware = isSoftware
        unmanagedScreen = isUnmanaged ? UnmanagedScreen() : nil
        if options.isFullScreen { unmanagedScreen?.enter(with: window) }
    }

    /// The title of the window.
    var title: String {
        get { SDL_GetWindowTitle(window).map { String(cString: $0) } ?? "" }
        nonmutating set { SDL_SetWindowTitle(window, newValue) }
    }

    deinit {
        SDL_DestroyRenderer(renderer)
        SDL_DestroyWindow(window)
        SDLRuntime.release(SDL_INIT_VIDEO)
    }

    /// The size of the drawing area, in pixels.
    var pixelSize: PixelSize {
        var (width, height) = (Int32(0), Int32(0))
        SDL_GetRendererOutputSize(renderer, &width, &height)
        return PixelSize(Int(width), Int(height))
    }

    /// The size of the window in points, the unit of mouse coordinates.
    var pointSize: PixelSize {
        var (width, height) = (Int32(0), Int32(0))
        SDL_GetWindowSize(window, &width, &height)
        return PixelSize(Int(width), Int(height))
    }

    var id: UInt32 { SDL_GetWindowID(window) }

    var isFullScreen: Bool {
        unmanagedScreen?.isActive ?? (SDL_GetWindowFlags(window) & SDL_WINDOW_FULLSCREEN.rawValue != 0)
    }

    /// A Boolean value that indicates whether the window is in full screen mode or maximized.
    var isFullScreenOrMaximized: Bool {
        isFullScreen || SDL_GetWindowFlags(window) & SDL_WINDOW_MAXIMIZED.rawValue != 0
    }

    func setFullScreen(_ isFullScreen: Bool) {
        if let unmanagedScreen {
            return isFullScreen ? unmanagedScreen.enter(with: window) : unmanagedScreen.leave(with: window)
        }
        SDL_SetWindowFullscreen(window, isFullScreen ? SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue : 0)
    }

    /// Changes the window to the aspect ratio of a picture, without enlarging it.
    func setAspectRatio(of videoSize: PixelSize) {
        guard !isFullScreenOrMaximized else { return }
        let rect = VideoGeometry.fit(videoSize, in: pointSize)
        SDL_SetWindowSize(window, Int32(clamping: rect.width), Int32(clamping: rect.height))
    }

    /// The sizes of a window in percent of the video.
    private static let sizes = [50, 100, 200]

    /// Changes the window to the next larger size for a picture, or to the smallest one after the largest.
    ///
    /// - Parameters:
    ///   - videoSize: The size of the picture, in pixels.
    ///   - density: The number of pixels per point.
    /// - Returns: The size in percent, which the screen may limit.
    func setNextSize(of videoSize: PixelSize, density: Double) -> Int {
        func points(_ percent: Int) -> PixelSize {
            let factor = Double(percent) / 100 / max(density, 0.1)
            return Self.fitted(
                PixelSize(
                    max(1, Int(saturating: (Double(videoSize.width) * factor).rounded())),
                    max(1, Int(saturating: (Double(videoSize.height) * factor).rounded()))
                )
            )
        }
        let present = pointSize
        let next = Self.sizes.first { points($0).width > present.width } ?? Self.sizes[0]
        let size = points(next)
        SDL_SetWindowSize(window, Int32(clamping: size.width), Int32(clamping: size.height))
        // A larger window would leave the screen.
        let center = Int32(bitPattern: SDL_WINDOWPOS_CENTERED_MASK)
        SDL_SetWindowPosition(window, center, center)
        return Int(
            saturating: (Double(size.width) * max(density, 0.1) / Double(max(1, videoSize.width)) * 100).rounded()
        )
    }

    /// Returns a size that fits the screen.
    private static func fitted(_ size: PixelSize) -> PixelSize {
        var bounds = SDL_Rect()
        guard SDL_GetDisplayUsableBounds(0, &bounds) == 0, bounds.w > 0, bounds.h > 0 else { return size }
        guard size.width > bounds.w || size.height > bounds.h else { return size }
        let rect = VideoGeometry.fit(size, in: PixelSize(Int(bounds.w), Int(bounds.h)))
        return PixelSize(rect.width, rect.height)
    }

    private static func makeRenderer(
        _ window: OpaquePointer,
        _ drawing: PlayerWindow.Options.Renderer
    ) -> (OpaquePointer, Bool)? {
        let flags = SDL_RENDERER_ACCELERATED.rawValue | SDL_RENDERER_PRESENTVSYNC.rawValue
        let usesAcceleration = drawing == .accelerated || drawing == .automatic && hasGraphicsDevice
        if usesAcceleration, let renderer = SDL_CreateRenderer(window, -1, flags) {
            if drawing == .accelerated || !isEmulatedOpenGL(renderer) { return (renderer, false) }
            SDL_DestroyRenderer(renderer)
        }
        // Without this hint, SDL would present software rendering through OpenGL, which may be emulated in software
        // itself.
        SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0")
        return SDL_CreateRenderer(window, -1, SDL_RENDERER_SOFTWARE.rawValue).map { ($0, true) }
    }

    /// A Boolean value that indicates whether there may be a GPU; checking with OpenGL would take longer than opening a
    /// window.
    private static var hasGraphicsDevice: Bool {
        #if os(Linux)
        // The Direct Rendering Manager, the driver of Nvidia without it, and the Windows Subsystem for Linux.
        ["/dev/dri", "/dev/nvidiactl", "/dev/dxg"].contains { FileManager.default.fileExists(atPath: $0) }
        #else
        true
        #endif
    }

    /// Returns whether OpenGL is emulated in software, which is slower than SDL's software renderer.
    private static func isEmulatedOpenGL(_ renderer: OpaquePointer) -> Bool {
        var info = SDL_RendererInfo()
        guard SDL_GetRendererInfo(renderer, &info) == 0 else { return false }
        let driver = String(cString: info.name)
        guard driver.hasPrefix("opengl"), let address = SDL_GL_GetProcAddress("glGetString") else { return false }
        typealias GetString = @convention(c) (UInt32) -> UnsafePointer<CChar>?
        // 0x1F01 is GL_RENDERER, the name of the renderer.
        guard let name = unsafeBitCast(address, to: GetString.self)(0x1F01) else { return false }
        let text = String(cString: name).lowercased()
        return ["llvmpipe", "softpipe", "swrast", "software rasterizer", "swiftshader"].contains { text.contains($0) }
    }

    private static func failure(_ message: String) -> OutputError {
        OutputError(
            .noWindow,
            "The window cannot be opened (\(message)): run the program on a display, or play without a window"
        )
    }
}
