import Foundation
import MediaTransport
import PlaybackReporting
import Synchronization

/// A file, or standard output, that takes the lines of a report as they come.
final class LineFile: Sendable {
    private struct State {
        var failure: (any Error)?
        var isClosed = false
    }

    private let handle: FileHandle
    private let path: String
    private let state = Mutex(State())

    /// Opens a file, which is emptied and readable by its owner only; `-` is standard output.
    ///
    /// - Throws: ``Failure`` where it cannot be written.
    init(_ path: String) throws {
        self.path = path
        guard path != "-" else {
            handle = .standardOutput
            return
        }
        do {
            handle = FileHandle(fileDescriptor: try PrivateFiles.openReport(path), closeOnDealloc: true)
        } catch {
            throw Failure(.failed, "file-failed", "the file \(path) cannot be written")
        }
    }

    /// Adds text; what goes wrong is told at the end.
    func write(_ text: String) {
        state.withLock { state in
            guard state.failure == nil, !state.isClosed else { return }
            do { try handle.write(contentsOf: Data(text.utf8)) } catch { state.failure = error }
        }
    }

    /// Ends the file.
    ///
    /// - Throws: ``Failure`` where some of it could not be written.
    func close() throws {
        let failure = state.withLock { state in
            guard !state.isClosed else { return state.failure }
            state.isClosed = true
            return state.failure
        }
        if path != "-" { try? handle.close() }
        if let failure { throw Failure(.failed, "file-failed", "the file \(path) could not be written: \(failure)") }
    }
}

/// A file of events, a line of JSON each.
struct EventFile: Sendable {
    private let file: LineFile
    private let writer: PlaybackEventWriter

    init(_ path: String, _ session: PlaybackSession) throws {
        file = try LineFile(path)
        writer = PlaybackEventWriter(session: session)
    }

    func write(_ event: PlaybackEvent) { file.write(writer.line(event) + "\n") }

    func close() throws { try file.close() }
}
