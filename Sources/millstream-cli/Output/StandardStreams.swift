import Foundation
import MediaTiming
import ReportFormat
import Synchronization

/// Standard output, to which results are written.
///
/// All text is ``TerminalText``, in which external text is escaped, or JSON, which escapes it too; only
/// ``write(bytes:)``, for byte-exact results, writes unchanged bytes.
enum StandardOutput {
    private static let lock = Mutex(())

    static func write(_ text: TerminalText) throws { try write(bytes: Array(text.description.utf8)) }

    static func writeLine(_ text: TerminalText) throws { try write(text + "\n") }

    /// Writes a report as a line of JSON.
    static func writeLine(_ report: ReportValue) throws { try write(bytes: Array("\(report.json)\n".utf8)) }

    /// Writes a report as JSON.
    static func write(report: ReportValue) throws { try write(bytes: Array(report.json.utf8)) }

    /// Writes a path as a line: unchanged to a file or a pipe, where scripts read it, and escaped to a terminal.
    static func writeLine(path: String) throws {
        try isTerminal ? writeLine(TerminalText(escaping: path)) : write(bytes: Array("\(path)\n".utf8))
    }

    /// Writes a playlist: unchanged to a file or a pipe, and with escaped lines to a terminal.
    static func write(playlist bytes: [UInt8]) throws {
        guard isTerminal else { return try write(bytes: bytes) }
        try write(TerminalText(escapingLines: String(decoding: bytes, as: UTF8.self)))
    }

    /// A Boolean value that indicates whether standard output is a terminal.
    static let isTerminal = isatty(OutputDescriptor.results.rawValue) == 1

    /// Writes bytes unchanged.
    ///
    /// - Throws: ``OutputError``, which also cancels the running command.
    static func write(bytes: [UInt8]) throws {
        if let failure = OutputSupervisor.shared.failure { throw failure }
        do {
            try lock.withLock { _ in try OutputDescriptor.results.write(bytes) }
        } catch let error as OutputError {
            OutputSupervisor.shared.report(error)
            throw error
        }
    }
}

/// Standard error, to which progress, logs and diagnostics are written.
enum StandardError {
    /// A Boolean value that indicates whether standard error is a terminal that can rewrite a line.
    static let isTerminal =
        isatty(OutputDescriptor.diagnostics.rawValue) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    private static let lock = Mutex(())

    /// The number of columns of the terminal; 80 if it is unknown.
    private static var columns: Int {
        var size = winsize()
        let result = unsafe ioctl(OutputDescriptor.diagnostics.rawValue, UInt(clamping: TIOCGWINSZ), &size)
        return result == 0 && size.ws_col > 0 ? Int(clamping: size.ws_col) : 80
    }

    /// The number of columns of a line that can be rewritten; `nil` if standard error is no terminal.
    static var lineWidth: Int? { isTerminal ? columns -| 1 : nil }

    /// Replaces the current line of the terminal with text, which is shortened to the width of the terminal, because a longer
    /// line could not be replaced.
    static func rewriteLine(_ text: TerminalText) { write("\r\u{1B}[K" + text.fitting(columns: columns -| 1)) }

    /// Writes text; failures are ignored, but a closed pipe cancels the running command.
    static func write(_ text: TerminalText) {
        do {
            try lock.withLock { _ in try OutputDescriptor.diagnostics.write(Array(text.description.utf8)) }
        } catch let error as OutputError where error.isClosed {
            OutputSupervisor.shared.report(error)
        } catch {
            // The failure cannot be reported anywhere else.
        }
    }
}
