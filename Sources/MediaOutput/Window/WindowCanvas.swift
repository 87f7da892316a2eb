import CSDL2
import MediaDecoding
import MediaTiming

/// The drawing of a window: the video frame, and the layers of the overlay over it.
///
/// The textures are declared before the surface so that they are destroyed before its renderer.
final class WindowCanvas {
    private var videoTexture: VideoTexture
    private var artworkTexture: VideoTexture
    private var gradient: OverlayLayer
    private var controls: OverlayLayer
    private var center: OverlayLayer
    private var statistics: OverlayLayer
    private var audio: OverlayLayer
    private var announcement: OverlayLayer
    private var subtitles: OverlayLayer
    private let surface: WindowSurface
    /// The preparation of the text renderer, started with the first frame or the first text.
    private let textRendererLoader: TextRendererLoader
    private var text: TextRenderer?
    private var hasAspectRatio = false
    /// The size for which the frame was uploaded; `nil` if it was not uploaded yet.
    private var loadedSize: PixelSize?
    /// The artwork that was uploaded, and the size for which it was; `nil` if there is none.
    private var loadedArtwork: (artwork: WindowArtwork, size: PixelSize)?

    /// The brightness of artwork, in front of which text must be legible, as a share of 255.
    private static let artworkBrightness: UInt8 = 150

    /// The frame to show; `nil` for a black window.
    var frame: VideoFrame? {
        didSet { loadedSize = nil }
    }

    /// Creates a canvas.
    ///
    /// - Parameters:
    ///   - surface: The window to draw into.
    ///   - onTextReady: A closure called on another thread when text can be drawn.
    init(_ surface: consuming WindowSurface, onTextReady: @escaping @Sendable () -> Void) {
        textRendererLoader = TextRendererLoader(onEnd: onTextReady)
        let renderer = surface.renderer
        videoTexture = VideoTexture(renderer: renderer, isSoftware: surface.isSoftware)
        artworkTexture = VideoTexture(renderer: renderer, isSoftware: surface.isSoftware)
        gradient = OverlayLayer(renderer: renderer)
        controls = OverlayLayer(renderer: renderer)
        center = OverlayLayer(renderer: renderer)
        statistics = OverlayLayer(renderer: renderer)
        audio = OverlayLayer(renderer: renderer)
        announcement = OverlayLayer(renderer: renderer)
        subtitles = OverlayLayer(renderer: renderer)
        self.surface = surface
        SDL_SetRenderDrawBlendMode(renderer, SDL_BLENDMODE_NONE)
    }

    var id: UInt32 { surface.id }
    var pixelSize: PixelSize { surface.pixelSize }
    var isSoftware: Bool { surface.isSoftware }
    var isFullScreen: Bool { surface.isFullScreen }

    func toggleFullScreen() { surface.setFullScreen(!surface.isFullScreen) }

    /// Changes the size of the window to the next of 50, 100 and 200 % of the video, as far as the screen allows.
    ///
    /// - Returns: The size in percent; `nil` without a frame, and in full screen mode.
    func setNextSize() -> Int? {
        guard let frame, !surface.isFullScreenOrMaximized else { return nil }
        return surface.setNextSize(of: VideoGeometry.displaySize(of: frame.pixelBuffer), density: density)
    }

    /// The title of the window.
    var title: String { surface.title }

    func setTitle(_ title: String) { surface.title = title }

    /// The number of pixels per point.
    var density: Double {
        let points = surface.pointSize.width
        return points > 0 ? Double(pixelSize.width) / Double(points) : 1
    }

    var bar: ControlBar { ControlBar(pixelSize, density: density) }

    /// Converts mouse coordinates from points to pixels.
    func pixels(x: Int32, y: Int32) -> (x: Int, y: Int) {
        (Int(saturating: (Double(x) * density).rounded()), Int(saturating: (Double(y) * density).rounded()))
    }

    /// Sets the frame to show; the first frame determines the aspect ratio of the window.
    func setFrame(_ frame: VideoFrame) {
        self.frame = frame
        guard !hasAspectRatio else { return }
        hasAspectRatio = true
        surface.setAspectRatio(of: VideoGeometry.displaySize(of: frame.pixelBuffer))
    }

    /// Discards all textures, as required after a reset of the rendering device.
    func reset() {
        videoTexture.reset()
        loadedSize = nil
        artworkTexture.reset()
        loadedArtwork = nil
        gradient.reset()
        controls.reset()
        center.reset()
        statistics.reset()
        audio.reset()
        announcement.reset()
        subtitles.reset()
    }

    /// Draws and presents the frame and the overlay.
    func draw(_ state: WindowControls, at now: Duration, onProblem: (OutputError) -> Void) {
        let renderer = surface.renderer
        SDL_SetRenderDrawColor(renderer, 0, 0, 0, 255)
        SDL_RenderClear(renderer)
        let area = drawFrame(onError: onProblem)
        let overlay = state.overlay
        if frame == nil, overlay.audioLevel != nil { drawArtwork(overlay.artwork, onError: onProblem) }
        drawOverlay(state, over: area, at: now, onProblem)
        SDL_RenderPresent(renderer)
        if frame != nil { textRendererLoader.begin() }
        SDL_ShowCursor(state.showsPointer(at: now) ? SDL_ENABLE : SDL_DISABLE)
    }

    private func drawFrame(onError onProblem: (OutputError) -> Void) -> PixelRect {
        let window = pixelSize
        guard let frame else { return PixelRect(x: 0, y: 0, width: window.width, height: window.height) }
        let rect = VideoGeometry.fit(VideoGeometry.displaySize(of: frame.pixelBuffer), in: window)
        let size = PixelSize(rect.width, rect.height)
        if loadedSize == nil || surface.isSoftware && loadedSize != size {
            loadedSize = size
            do {
                try videoTexture.load(frame.pixelBuffer, for: size)
            } catch {
                onProblem(error as? OutputError ?? OutputError(.notConvertible, "A frame cannot be shown: \(error)"))
            }
        }
        videoTexture.draw(in: rect)
        return rect
    }

    /// Draws the artwork of media without video as large as the window permits.
    private func drawArtwork(_ artwork: WindowArtwork?, onError onProblem: (OutputError) -> Void) {
        guard let artwork else {
            if loadedArtwork != nil { artworkTexture.reset() }
            loadedArtwork = nil
            return
        }
        let rect = VideoGeometry.fit(artwork.size, in: pixelSize)
        let size = PixelSize(rect.width, rect.height)
        if loadedArtwork?.artwork != artwork || surface.isSoftware && loadedArtwork?.size != size {
            loadedArtwork = (artwork, size)
            do {
                try artworkTexture.load(artwork.pixelBuffer, for: size)
            } catch {
                artworkTexture.reset()
                onProblem(
                    error as? OutputError ?? OutputError(.notConvertible, "The artwork cannot be shown: \(error)")
                )
            }
        }
        artworkTexture.draw(in: rect, brightness: Self.artworkBrightness)
    }

    private func drawOverlay(
        _ state: WindowControls,
        over area: PixelRect,
        at now: Duration,
        _ onProblem: (OutputError) -> Void
    ) {
        let overlay = state.overlay
        let bar = bar
        let barOpacity = state.barOpacity(at: now)
        let phase = state.spinnerPhase(at: now)
        let wordsOpacity = state.announcementOpacity(at: now)
        let hasCenter = phase != nil || overlay.message?.isEmpty == false
        let showsAudio = frame == nil && overlay.audioLevel != nil
        let hasText =
            barOpacity > 0 || hasCenter || showsAudio || wordsOpacity > 0 || !overlay.statistics.isEmpty
            || !overlay.subtitles.lines.isEmpty
        guard hasText, let text = textRenderer(onProblem) else { return }

        if showsAudio {
            audio.update(AudioOverlay.script(surface.title, overlay, bar).text, bar.window, text)
            audio.draw()
        }
        if barOpacity > 0 {
            gradient.update("shade", bar.window) { OverlayLayout.gradient(bar) }
            gradient.draw(opacity: barOpacity)
        }
        if !overlay.subtitles.lines.isEmpty {
            subtitles.update(overlay.subtitles.script, PixelSize(area.width, area.height), text)
            subtitles.draw(
                offsetX: area.x,
                y: area.y - subtitleOffset(above: bar, hasTime: state.pointer != nil, area: area, opacity: barOpacity)
            )
        }
        if barOpacity > 0 {
            let script = OverlayLayout.controls(overlay, bar, pointer: state.pointer)
            controls.update(script.text, bar.window, text)
            controls.draw(opacity: barOpacity)
        }
        if hasCenter {
            center.update(OverlayLayout.center(overlay, bar: bar, phase: phase ?? 0).text, bar.window, text)
            center.draw()
        }
        if !overlay.statistics.isEmpty {
            statistics.update(OverlayLayout.statistics(overlay.statistics, bar).text, bar.window, text)
            statistics.draw()
        }
        if wordsOpacity > 0 {
            announcement.update(OverlayLayout.announcement(state.announcement, bar).text, bar.window, text)
            announcement.draw(opacity: wordsOpacity)
        }
        for problem in text.takeMissingFonts() { onProblem(problem) }
    }

    /// Returns the distance by which subtitles are raised so that the position bar and the time above the mouse do not
    /// cover them, in pixels.
    private func subtitleOffset(above bar: ControlBar, hasTime: Bool, area: PixelRect, opacity: Double) -> Int {
        guard opacity > 0, let bounds = subtitles.bounds else { return 0 }
        let limit = Int(saturating: bar.track.y - bar.length(hasTime ? 44 : 16))
        let bottom = area.y + bounds.y + bounds.height
        // Subtitles in the upper half keep their position.
        guard bottom > limit, bounds.y > area.height / 2 else { return 0 }
        return Int(saturating: Double(bottom - limit) * opacity)
    }

    private func textRenderer(_ onProblem: (OutputError) -> Void) -> TextRenderer? {
        if let text { return text }
        textRendererLoader.begin()
        do throws(OutputError) {
            text = try textRendererLoader.take()
        } catch {
            onProblem(error)
        }
        return text
    }
}
