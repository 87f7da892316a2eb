import CSDL2
import Foundation
public import MediaDecoding
import MediaTiming

/// A window that shows a player's picture and tells what somebody at it wants.
///
/// SDL wants the main thread of the process. On Linux an `async` main leaves that thread at its first `await`, so a program
/// with a window has a synchronous one, which ends in ``run(until:)``:
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
/// The loop also serves the main actor. Frames and overlays may come from any thread.
@MainActor public final class PlayerWindow {
    /// How a window is made.
    public struct Options: Sendable, Hashable {
        /// Who draws.
        public enum Drawing: Sendable, Hashable {
            /// The graphics processor where there is one.
            case automatic
            /// Whatever calls itself a graphics processor, even one that the processor plays.
            case graphics
            /// The processor: what looks the same everywhere.
            case software
        }

        /// Its size in points, made smaller where the screen has no room; the first picture gives it its shape.
        public var size: PixelSize
        /// Whether it fills the screen from the beginning.
        public var isFullScreen: Bool
        /// Who draws.
        public var drawing: Drawing

        /// Makes options; by default 1280 by 720 in a window.
        public init(
            size: PixelSize = PixelSize(width: 1280, height: 720),
            isFullScreen: Bool = false,
            drawing: Drawing = .automatic
        ) {
            self.size = size
            self.isFullScreen = isFullScreen
            self.drawing = drawing
        }
    }

    /// Told what somebody wants; the window itself only changes between window and full screen.
    public var onCommand: (PlayerCommand) -> Void = { _ in }

    /// Told how many pixels a picture can have in it, at once and whenever that changes: more need not be loaded.
    public var onPixelSizeChange: ((PixelSize) -> Void)? {
        didSet { if canvas != nil { onPixelSizeChange?(pixelSize) } }
    }

    /// Told of pictures or text that cannot be drawn, once for each kind.
    public var onProblem: (OutputError) -> Void = { _ in }

    /// Whether it was closed, by ``close()``.
    public var isClosed: Bool { canvas == nil }

    /// What a picture can have, in pixels; zero once it is closed.
    public private(set) var pixelSize = PixelSize(0, 0)

    let mailbox: WindowMailbox
    var canvas: WindowCanvas?
    var controls: WindowControls
    private let time: any TimeSource
    private var problems: Set<OutputError.Code> = []
    /// Until when what is on the screen stays right by itself.
    private var drawAgain: Duration?
    var needsDrawing = true

    /// Opens a window, black.
    ///
    /// - Parameters:
    ///   - title: What stands over it.
    ///   - options: How it is made.
    /// - Throws: ``OutputError`` with ``OutputError/Code/noWindow`` where there is no display.
    public init(title: String, options: Options = Options()) throws {
        time = SystemTimeSource()
        let surface = try WindowSurface(title, options)
        let mailbox = WindowMailbox(event: SDL_RegisterEvents(1))
        self.mailbox = mailbox
        canvas = WindowCanvas(surface, onTextReady: { mailbox.redraw() })
        controls = WindowControls()
        pixelSize = canvas?.pixelSize ?? pixelSize
    }

    /// Serves the window, and with it the main actor, until something is over.
    ///
    /// It sleeps while nothing happens: what is handed to the window wakes it at once, a job of the main actor waits up to
    /// 20 ms.
    ///
    /// - Parameter isFinished: Asked after every round.
    public func run(until isFinished: () -> Bool) {
        while !isClosed, !isFinished() { turn(waitingAtMost: .milliseconds(20)) }
    }

    /// Serves the window once: for programs with a loop of their own.
    ///
    /// - Parameter limit: How long to wait for something to happen.
    public func turn(waitingAtMost limit: Duration = .zero) {
        guard !isClosed else { return }
        let now = time.now
        let rest = drawAgain.map { max(.zero, $0 - now) } ?? limit
        let wait = needsDrawing ? .zero : max(.zero, min(limit, rest))
        var event = SDL_Event()
        var isThere = SDL_WaitEventTimeout(&event, Int32(saturating: (wait / .milliseconds(1)).rounded(.up))) != 0
        while isThere {
            handle(event, at: time.now)
            isThere = SDL_PollEvent(&event) != 0
        }
        // Jobs of the main actor come through the main queue, which the run loop serves.
        _ = RunLoop.main.run(mode: .default, before: .distantPast)
        guard !isClosed else { return }
        readMail(at: time.now)
        drawIfNeeded(at: time.now)
    }

    /// Closes the window; afterwards frames are dropped without a word.
    public func close() {
        mailbox.close()
        canvas = nil
        pixelSize = PixelSize(0, 0)
    }

    /// Says what happens with the window's name.
    public func setTitle(_ title: String) { canvas?.setTitle(title) }

    /// Changes what is over the picture; from any thread.
    ///
    /// - Parameter change: Changes the overlay as it is; called once more where another thread changed it meanwhile.
    public nonisolated func updateOverlay(_ change: (inout OverlayState) -> Void) { mailbox.update(change) }

    /// Says something in a corner for a moment: a new speed, the language of the next audio; from any thread.
    ///
    /// - Parameter text: A few words.
    public nonisolated func announce(_ text: String) { mailbox.announce(text) }

    /// What became of the frames so far.
    public nonisolated var frameCounts: WindowFrameCounts { mailbox.counts }

    /// Whether a first picture has come, and was not cleared.
    public nonisolated var isReadyForDisplay: Bool { mailbox.isReadyForDisplay }

    private func readMail(at now: Duration) {
        let mail = mailbox.take()
        if let overlay = mail.overlay, controls.setOverlay(overlay, at: now) { needsDrawing = true }
        if let text = mail.announcement {
            controls.announce(text, at: now)
            needsDrawing = true
        }
        if mail.isCleared { canvas?.frame = nil }
        if let frame = mail.frame { canvas?.setFrame(frame) }
        if mail.isCleared || mail.needsDrawing || mail.frame != nil { needsDrawing = true }
    }

    private func drawIfNeeded(at now: Duration) {
        if let drawAgain, drawAgain <= now { needsDrawing = true }
        guard needsDrawing else { return }
        needsDrawing = false
        canvas?.draw(controls, at: now) { [self] problem in
            if problems.insert(problem.code).inserted { onProblem(problem) }
        }
        drawAgain = controls.nextChange(after: now)
    }

    /// Looks whether the window has another size.
    func noticeSize() {
        needsDrawing = true
        guard let size = canvas?.pixelSize, size != pixelSize else { return }
        pixelSize = size
        onPixelSizeChange?(size)
    }
}

extension PlayerWindow: VideoOutput {
    /// Shows a frame as soon as the main thread gets round to it; from any thread.
    public nonisolated func show(_ frame: VideoFrame) { mailbox.put(frame) }

    /// Makes the window black; from any thread.
    public nonisolated func clear() { mailbox.clear() }
}
