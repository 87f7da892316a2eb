import AssetStorage
import HLSPlaylist
import ResourceAddressing
import Synchronization

/// The addresses of the media playlists after the multivariant playlist was loaded again.
final class RecordingRenewal: Sendable {
    private let renditions = Mutex<[PlannedRendition]>([])

    /// Loads the source again, and returns the new playlist of a track and its URL.
    ///
    /// - Parameters:
    ///   - track: The track.
    ///   - former: The URL that does not work; `nil` if only the URLs of segments do not work.
    ///   - resolver: The resolver of the source.
    ///   - source: The URL of the source.
    /// - Returns: The playlist; `nil` if the source cannot be loaded or does not have it.
    func renew(
        _ track: RecordingTrack,
        after former: ResourceAddress?,
        _ resolver: DownloadResolver,
        _ source: ResourceAddress
    ) async -> (MediaPlaylist, ResourceAddress)? {
        // Another track may have loaded the source for the same reason.
        let known = renditions.withLock { renditions in renditions.first { track.isRecording($0) } }
        if let known, let former, known.reloadAddress != former,
            let playlist = try? await resolver.playlists.reload(known.reloadAddress, after: known.playlist)
        {
            return (playlist, known.reloadAddress)
        }
        guard let resolution = try? await resolver.resolve(source) else { return nil }
        renditions.withLock { $0 = resolution.renditions }
        return resolution.renditions.first { track.isRecording($0) }.map { ($0.playlist, $0.reloadAddress) }
    }
}

/// The time of the last new segment in any playlist of a recording, and the end of the recording by a stall.
final class RecordingActivity: Sendable {
    private struct State {
        var lastUpdate: Duration
        var isReported = false
        /// The error of the stall that has ended the recording, and the time of this end.
        var end: (error: DownloadError, time: Duration)?
    }

    private let state: Mutex<State>

    /// The time after the end of the recording within which requests of segments begin that wait for their turn.
    private static let finalDuration = Duration.seconds(30)

    init(at now: Duration) { state = Mutex(State(lastUpdate: now)) }

    /// Adds a playlist with a new segment.
    func addUpdate(at now: Duration) {
        state.withLock { state in
            state.lastUpdate = now
            state.isReported = false
        }
    }

    /// The error of the stall that has ended the recording; `nil` if none has.
    var endError: DownloadError? { state.withLock { $0.end?.error } }

    /// Ends the recording because of a stall: no playlist is loaded again, and requests that have begun are finished.
    func end(_ error: DownloadError, at now: Duration) {
        state.withLock { state in
            if state.end == nil { state.end = (error, now) }
        }
    }

    /// Returns a Boolean value that indicates whether the first request of a segment may begin.
    func permitsRequest(at now: Duration) -> Bool {
        state.withLock { state in state.end.map { now - $0.time < Self.finalDuration } ?? true }
    }

    /// Returns the time since the last new segment.
    func idleTime(at now: Duration) -> Duration { now - state.withLock { $0.lastUpdate } }

    /// Returns a Boolean value that indicates whether the stall has not been reported yet.
    func reportsStall() -> Bool {
        state.withLock { state in
            defer { state.isReported = true }
            return !state.isReported
        }
    }
}

/// A request for a file of a recording.
struct RecordingRequest: Sendable {
    let file: RecordingWriter.File
    /// A Boolean value that indicates whether the file was requested before, and has the URL of the current playlist.
    var isRepeated = false
    /// A Boolean value that indicates whether a segment becomes a gap if the request fails.
    var isLast = false
    /// The time after which a segment becomes a gap without a request; `nil` for no limit.
    var deadline: Duration?
}

/// The segments of a recording that are neither stored nor known to be missing at the origin.
final class OpenSegments: Sendable {
    /// The indexes of the segments, by the directories of their renditions.
    private let positions = Mutex<[String: Set<Int>]>([:])

    /// The index of the first of the segments in each rendition that has any, by the directories of the renditions.
    var firstPositions: [String: Int] { positions.withLock { $0.compactMapValues { $0.min() } } }

    /// Adds a segment that is going to be requested; other files are ignored.
    func insert(_ file: RecordingWriter.File) {
        guard file.isSegment else { return }
        positions.withLock { _ = $0[file.resource.folder, default: []].insert(file.position) }
    }

    /// Removes a segment that is stored, or that the origin does not have; other files are ignored.
    func remove(_ file: RecordingWriter.File) {
        guard file.isSegment else { return }
        positions.withLock { _ = $0[file.resource.folder]?.remove(file.position) }
    }
}

/// The files that could not be fetched, in the order in which they are requested again.
final class FailedFiles: Sendable {
    private struct State {
        var files: [(folder: String, file: RecordingWriter.File)] = []
        /// The times of the first failures of segments, by their paths.
        var failureTimes: [String: Duration] = [:]
    }

    private let state = Mutex(State())

    /// Returns a Boolean value that indicates whether any of the files is a segment of a rendition.
    func hasSegments(of folder: String) -> Bool {
        state.withLock { $0.files.contains { $0.folder == folder && $0.file.isSegment } }
    }

    func add(_ file: RecordingWriter.File, of folder: String, at now: Duration) {
        state.withLock { state in
            let path = file.resource.path
            guard !state.files.contains(where: { $0.file.resource.path == path }) else { return }
            state.files.append((folder, file))
            if file.isSegment, state.failureTimes[path] == nil { state.failureTimes[path] = now }
        }
    }

    /// Removes what is known about a file that is not requested again.
    func forget(_ file: RecordingWriter.File) { state.withLock { $0.failureTimes[file.resource.path] = nil } }

    /// Removes and returns the next keys and initialization sections of a rendition.
    func take(_ count: Int, of folder: String) -> [RecordingWriter.File] {
        state.withLock { state in Self.take(count, from: &state.files) { $0.folder == folder && !$0.file.isSegment } }
    }

    /// Removes and returns the next segments of a rendition, with the times of their first failures.
    func takeSegments(
        _ count: Int = .max,
        of folder: String,
        where isIncluded: ((file: RecordingWriter.File, failureTime: Duration)) -> Bool
    ) -> [(file: RecordingWriter.File, failureTime: Duration)] {
        state.withLock { state in
            let times = state.failureTimes
            let time = { (file: RecordingWriter.File) in times[file.resource.path] ?? .zero }
            return Self.take(count, from: &state.files) {
                $0.folder == folder && $0.file.isSegment && isIncluded(($0.file, time($0.file)))
            }.map { ($0, time($0)) }
        }
    }

    private static func take(
        _ count: Int,
        from files: inout [(folder: String, file: RecordingWriter.File)],
        where isIncluded: ((folder: String, file: RecordingWriter.File)) -> Bool
    ) -> [RecordingWriter.File] {
        let taken = files.filter(isIncluded).prefix(count).map(\.file)
        let paths = Set(taken.map(\.resource.path))
        files.removeAll { paths.contains($0.file.resource.path) }
        return taken
    }
}
