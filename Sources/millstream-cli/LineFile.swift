import Foundation
import MediaTransport
import PlaybackReporting
import Synchronization

/// A file, or standard output, to which the lines of a report are written as they are produced.
final class LineFile: Sendable {
    private struct State {
        var failure: OutputError?
        var isClosed = false
    }

    /// The descriptor of the file; `nil` for standard output.
    private let file: OutputDescriptor?
    private let state = Mutex(State())

    /// Creates an instance that opens a file for writing; `-` is standard output.
    ///
    /// A regular file is truncated or created, with access for its owner only.
    ///
    /// - Throws: ``Failure`` if it cannot be written.
    init(_ path: String) throws {
        do {
            file = path == "-" ? nil : try OutputDescriptor(creating: path)
        } catch {
            throw Failure("\(error.output) cannot be written: \(error.reason)", writing: error, code: "file-failed")
        }
    }

    /// Appends text in the format of the file.
    ///
    /// A failure is thrown by ``close()``. A failure of standard output, or of a pipe that its reader has closed, also
    /// cancels the command at once.
    func write(_ text: String) {
        state.withLock { state in
            guard state.failure == nil, !state.isClosed else { return }
            do {
                guard let file else { return try StandardOutput.write(bytes: Array(text.utf8)) }
                try file.write(Array(text.utf8))
            } catch let error as OutputError {
                state.failure = error
                if error.isClosed { OutputSupervisor.shared.report(error) }
            } catch {
                // The command was interrupted while the output was blocked.
            }
        }
    }

    /// Closes the file.
    ///
    /// - Throws: ``OutputError`` for standard output or a closed pipe, ``Failure`` for a file, if some of the text
    ///   could not be written.
    func close() throws {
        let (failure, isFirst) = state.withLock { state in
            defer { state.isClosed = true }
            return (state.failure, !state.isClosed)
        }
        if isFirst { file?.close() }
        guard let failure else { return }
        if file == nil || failure.isClosed { throw failure }
        throw Failure(
            "\(failure.output) could not be written: \(failure.reason)",
            writing: failure,
            code: "file-failed"
        )
    }
}

/// A file of events, each as a line of JSON.
struct EventFile: Sendable {
    private let file: LineFile
    private let writer: PlaybackEventWriter

    init(_ path: String, _ session: PlaybackSession) throws {
        file = try LineFile(path)
        writer = PlaybackEventWriter(session: session, addresses: .shortened)
    }

    func write(_ event: PlaybackEvent) { file.write(writer.line(event) + "\n") }

    func close() throws { try file.close() }
}
