#if Playback
import Foundation
import MediaOutput
import MediaTiming
import Millstream
import ReportFormat

/// The keyboard of the terminal, whose keys control playback with and without a window.
struct TerminalKeyboard: Sendable {
    private let display: PlaybackDisplay

    /// Creates a keyboard; `nil` if the program is not used in the foreground of a terminal.
    init?(_ display: PlaybackDisplay) {
        // A process in the background is stopped when it changes the settings of the terminal.
        guard isatty(0) == 1, StandardError.isTerminal, tcgetpgrp(0) == getpgrp() else { return nil }
        self.display = display
    }

    /// Executes the commands of keys until the user quits or the task is canceled.
    ///
    /// - Parameters:
    ///   - player: The player.
    ///   - hasWindow: A Boolean value that indicates whether a window shows the player. The window has keys of its own.
    func control(_ player: Player, hasWindow: Bool = false) async {
        var former = termios()
        guard tcgetattr(0, &former) == 0 else { return await waitForCancellation() }
        var direct = former
        // Ctrl-C and Ctrl-Z remain signals.
        direct.c_lflag &= ~tcflag_t(clamping: ICANON | ECHO)
        tcsetattr(0, TCSANOW, &direct)
        defer { tcsetattr(0, TCSANOW, &former) }
        let (input, continuation) = AsyncStream.makeStream(of: PlayerCommand.self)
        let (keys, waitingSeeks) = (TerminalKeys(), WaitingSeeks())
        let source = DispatchSource.makeReadSource(fileDescriptor: 0, queue: .global())
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = read(0, &bytes, bytes.count)
            guard count > 0 else { return continuation.finish() }
            for command in keys.commands(Array(bytes.prefix(count)), in: player.currentItem?.state.keyRange)
            where waitingSeeks.add(command) {
                continuation.yield(command)
            }
        }
        source.resume()
        defer { source.cancel() }
        display.showNotice("Press ? for the keys")
        let executor = PlayerCommandExecutor(player) { [display] in display.showNotice($0) }
        for await command in input {
            switch command {
            case .quit: return
            case .toggleKeys: for line in PlayerCommand.keyLinesOfTerminal { display.showNotice(line) }
            default:
                if let key = command.keyOfWindow {
                    let advice = hasWindow ? "press it there" : "play with --window"
                    display.showNotice("The key \(key) has an effect only in a window: \(advice)")
                } else {
                    await executor.execute(waitingSeeks.take(command))
                }
            }
        }
        await waitForCancellation()
    }
}

extension PlayerItem.State {
    /// The playable time range; a digit seeks to a fraction of it.
    fileprivate var keyRange: MediaTimeRange? {
        seekableTimeRanges.ranges.first ?? duration.map { MediaTimeRange(start: .zero, end: $0) }
    }
}
#endif
