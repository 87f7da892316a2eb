import CSDL2
import Foundation
public import MediaDecoding
import MediaTiming

/// A window that shows the video of a player and reports the commands of the user.
///
/// SDL requires the main thread of the process. On Linux, an `async` main function leaves that thread at its first
/// `await`. Therefore a program with a window has a synchronous main function that ends with ``run(until:)``:
///
/// ```swift
/// @main struct Program {
///     @MainActor static func main() throws {
///         let window = try PlayerWindow(title: "Film")
///         window.onCommand = { command in … }
///         window.run(until: { … })
///         window.close()
///     }
/// }
/// ```
///
/// The loop also runs the jobs of the main actor. Frames and overlay changes may come from any thread.
@MainActor public final class PlayerWindow {
    /// Options for creating a window.
    public struct Options: Sendable, Hashable {
        /// The renderer of a window.
        public enum Renderer: Sendable, Hashable {
            /// The GPU if there is one, otherwise software.
            case automatic
            /// Any accelerated renderer, even one that emulates a GPU in software.
            case accelerated
            /// Software rendering, whose result is the same on all machines.
            case software
        }

        /// The size in points, reduced to fit the screen; the first frame determines the aspect ratio.
        public var size: PixelSize
        /// A Boolean value that indicates whether the window is created in full screen mode.
        public var isFullScreen: Bool
        /// The renderer.
        public var renderer: Renderer

        /// Creates options; the default is a window of 1280 by 720 points.
        public init(
            size: PixelSize = PixelSize(width: 1280, height: 720),
            isFullScreen: Bool = false,
            renderer: Renderer = .automatic
        ) {
            self.size = size
            self.isFullScreen = isFullScreen
            self.renderer = renderer
        }
    }

    /// A closure called with the commands of the user; the window itself performs only the change of full screen mode.
    public var onCommand: (PlayerCommand) -> Void = { _ in }

    /// A closure called with the size in pixels that is available for video, immediately when set and after each
    /// change.
    ///
    /// Video with a higher resolution need not be loaded.
    public var onPixelSizeChange: ((PixelSize) -> Void)? {
        didSet { if canvas != nil { onPixelSizeChange?(pixelSize) } }
    }

    /// A closure called if a frame or text cannot be drawn, once for each error code, and once for each script without a font.
    public var onError: (OutputError) -> Void = { _ in }

    /// A Boolean value that indicates whether ``close()`` was called.
    public var isClosed: Bool { canvas == nil }

    /// The size that is available for video, in pixels; zero after the window is closed.
    public private(set) var pixelSize = PixelSize(0, 0)

    let mailbox: WindowMailbox
    var canvas: WindowCanvas?
    var controls: WindowControls
    private let time: any TimeSource
    private var reportedErrorCodes: Set<OutputError.Code> = []
    /// The time at which the window must be redrawn; `nil` if its contents do not change with time.
    private var nextRedraw: Duration?
    var needsDrawing = true

    /// Creates and opens a black window.
    ///
    /// - Parameters:
    ///   - title: The title of the window.
    ///   - options: The options for creating the window.
    /// - Throws: ``OutputError`` with ``OutputError/Code/noWindow`` if there is no display.
    public init(title: String, options: Options = Options()) throws {
        time = SystemTimeSource()
        let surface = try WindowSurface(title, options)
        let mailbox = WindowMailbox(event: SDL_RegisterEvents(1))
        self.mailbox = mailbox
        canvas = WindowCanvas(surface, onTextReady: { mailbox.redraw() })
        controls = WindowControls()
        pixelSize = canvas?.pixelSize ?? pixelSize
    }

    /// Runs the event loop of the window and the jobs of the main actor until a condition is met.
    ///
    /// The loop sleeps while there are no events. Frames and overlay changes wake it immediately; jobs of the main
    /// actor wait for up to 20 ms.
    ///
    /// - Parameter isFinished: The condition, evaluated after each iteration.
    public func run(until isFinished: () -> Bool) {
        while !isClosed, !isFinished() { runOnce(timeout: .milliseconds(20)) }
    }

    /// Runs a single iteration of the event loop, for programs with their own loop.
    ///
    /// - Parameter limit: The maximum time to wait for an event.
    public func runOnce(timeout limit: Duration = .zero) {
        guard !isClosed else { return }
        let now = time.now
        let rest = nextRedraw.map { max(.zero, $0 - now) } ?? limit
        let wait = needsDrawing ? .zero : max(.zero, min(limit, rest))
        var event = SDL_Event()
        var isThere = SDL_WaitEventTimeout(&event, Int32(saturating: (wait / .milliseconds(1)).rounded(.up))) != 0
        while isThere {
            handle(event, at: time.now)
            isThere = SDL_PollEvent(&event) != 0
        }
        // Jobs of the main actor run on the main queue, which the run loop serves.
        _ = RunLoop.main.run(mode: .default, before: .distantPast)
        guard !isClosed else { return }
        readMailbox(at: time.now)
        drawIfNeeded(at: time.now)
    }

    /// Closes the window; frames shown afterwards are discarded.
    public func close() {
        mailbox.close()
        canvas = nil
        pixelSize = PixelSize(0, 0)
    }

    /// The title of the window; empty after the window is closed.
    public var title: String { canvas?.title ?? "" }

    /// Sets the title of the window as soon as the main thread is available; may be called from any thread.
    ///
    /// - Parameter title: The title.
    public nonisolated func setTitle(_ title: String) { mailbox.setTitle(title) }

    /// Changes the overlay; may be called from any thread.
    ///
    /// - Parameter change: A closure that changes the current overlay. It is called again if another thread has changed
    ///   the overlay in the meantime.
    public nonisolated func updateOverlay(_ change: (inout OverlayState) -> Void) { mailbox.update(change) }

    /// Shows a short text in a corner for a moment, such as a new rate or language; may be called from any thread.
    ///
    /// - Parameter text: The text, a few words.
    public nonisolated func announce(_ text: String) { mailbox.announce(text) }

    /// The numbers of frames that were received, shown and dropped.
    public nonisolated var frameCounts: WindowFrameCounts { mailbox.counts }

    /// A Boolean value that indicates whether a frame was received and has not been cleared.
    public nonisolated var isReadyForDisplay: Bool { mailbox.isReadyForDisplay }

    private func readMailbox(at now: Duration) {
        let mail = mailbox.take()
        if let overlay = mail.overlay, controls.setOverlay(overlay, at: now) { needsDrawing = true }
        if let text = mail.announcement {
            controls.announce(text, at: now)
            needsDrawing = true
        }
        if let title = mail.title {
            canvas?.setTitle(title)
            needsDrawing = true
        }
        if mail.isCleared { canvas?.frame = nil }
        if let frame = mail.frame { canvas?.setFrame(frame) }
        if mail.isCleared || mail.needsDrawing || mail.frame != nil { needsDrawing = true }
    }

    private func drawIfNeeded(at now: Duration) {
        if let nextRedraw, nextRedraw <= now { needsDrawing = true }
        guard needsDrawing else { return }
        needsDrawing = false
        canvas?.draw(controls, at: now) { [self] problem in
            // The text renderer reports each script once.
            if problem.code == .missingFont || reportedErrorCodes.insert(problem.code).inserted { onError(problem) }
        }
        nextRedraw = controls.nextChange(after: now)
    }

    /// Reports the size of the window if it has changed.
    func updatePixelSize() {
        needsDrawing = true
        guard let size = canvas?.pixelSize, size != pixelSize else { return }
        pixelSize = size
        onPixelSizeChange?(size)
    }
}

extension PlayerWindow: VideoOutput {
    /// Shows a frame as soon as the main thread is available; may be called from any thread.
    public nonisolated func show(_ frame: VideoFrame) { mailbox.put(frame) }

    /// Removes the frame, which makes the window black; may be called from any thread.
    public nonisolated func clear() { mailbox.clear() }
}
