import Foundation
import Synchronization

/// The local playlist of a rendition that is being recorded.
///
/// A segment is written when it and all segments before it are settled: stored, or marked as gaps. All methods that
/// throw errors block.
final class RecordingPlaylistFile: Sendable {
    /// A segment that the file does not have yet.
    struct Segment {
        /// The lines with the names of the package.
        var lines: String
        /// A Boolean value that indicates whether the segment can be written once those before it are.
        var isSettled: Bool
    }

    private struct State {
        /// The segments that the file does not have yet, by position.
        var pending: [Int: Segment] = [:]
        /// The number of segments that the file has.
        var published: Int
        /// The target duration in the header, in seconds.
        var targetDuration: Int64
    }

    private let url: URL
    private let files: any FileOperations
    private let state: Mutex<State>

    /// Creates the description of a file that exists.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - files: The file operations with which the header is changed.
    ///   - segmentCount: The number of segments that the file has.
    ///   - targetDuration: The target duration in its header, in seconds.
    init(at url: URL, files: any FileOperations, segmentCount: Int, targetDuration: Int64) {
        self.url = url
        self.files = files
        state = Mutex(State(published: segmentCount, targetDuration: targetDuration))
    }

    /// Adds segments, which ``publish()`` writes once they are settled.
    ///
    /// - Parameters:
    ///   - segments: The segments by position.
    ///   - targetDuration: The minimum target duration for these segments, in seconds.
    /// - Returns: A Boolean value that indicates whether the header needs a longer target duration, with which
    ///   ``changeHeader(_:)`` writes it.
    func add(_ segments: [Int: Segment], targetDuration: Int64) -> Bool {
        state.withLock { state in
            state.pending.merge(segments) { _, new in new }
            guard state.targetDuration < targetDuration else { return false }
            state.targetDuration = targetDuration
            return true
        }
    }

    /// Changes a segment that the file does not have yet, so that it can be written once those before it are.
    func settle(_ position: Int) { state.withLock { $0.pending[position]?.isSettled = true } }

    /// Marks a segment that the file does not have yet as a gap, so that it can be written once those before it are.
    func markAsGap(_ position: Int) {
        state.withLock { state in
            guard let pending = state.pending[position] else { return }
            state.pending[position] = Segment(lines: RecordedSegment.withGap(pending.lines), isSettled: true)
        }
    }

    /// Appends the next segments that are settled to the file.
    ///
    /// The file is not synchronized to the disk: it is written again from the catalog when an interrupted recording is
    /// continued or ended.
    ///
    /// - Throws: ``StorageError`` if the file cannot be written.
    func publish() throws {
        try state.withLock { state in
            var text = ""
            var next = state.published
            while let pending = state.pending[next], pending.isSettled {
                text += pending.lines
                next += 1
            }
            guard next > state.published else { return }
            do {
                // One write, so that a reader does not see a part of a line.
                let file = try FileHandle(forWritingTo: url)
                defer { try? file.close() }
                try file.seekToEnd()
                try file.write(contentsOf: Data(text.utf8))
            } catch {
                throw StorageError(writing: url.path, error)
            }
            for position in state.published..<next { state.pending[position] = nil }
            state.published = next
        }
    }

    /// Writes the header with the target duration, which is needed if an origin makes it longer.
    ///
    /// - Parameter storing: A function that stores the target duration, in seconds, in the catalog before the file
    ///   changes.
    /// - Throws: ``StorageError``, or an error of `storing`.
    func changeHeader(_ storing: (_ targetDuration: Int64) throws -> Void) throws {
        try state.withLock { state in
            try storing(state.targetDuration)
            guard let text = try? String(contentsOf: url, encoding: .utf8) else { return }
            var header = RecordingHeader(text)
            header.targetDuration = state.targetDuration
            let file = PackageFile(url.path, files: files)
            try Array(header.text.utf8).withUnsafeBytes { try file.write($0) }
            try file.finish()
        }
    }
}
