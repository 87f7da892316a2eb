import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PresentationLoading
import ResourceAddressing
import Synchronization

/// A clock that tests move.
final class TestClock: TimeSource {
    private struct State {
        var now = Duration.zero
        var lastSleeper = 0
        var sleepers: [Int: (end: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
    }

    private let state = Mutex(State())
    private let isMovedBySleeping: Bool

    /// Creates a clock, which waiting moves at once if `isMovedBySleeping` is `true`.
    init(isMovedBySleeping: Bool = false) { self.isMovedBySleeping = isMovedBySleeping }

    var now: Duration { state.withLock { $0.now } }
    /// The number of tasks that wait for the clock.
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.end <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Waits until the clock was moved by a duration, or the task is canceled.
    func sleep(for duration: Duration) async throws {
        guard !isMovedBySleeping else { return advance(by: duration) }
        let id = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard duration > .zero else { return .success(()) }
                    state.sleepers[id] = (state.now + duration, continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
        }
    }
}

/// An origin with a manifest, and the transport of a player in front of it.
struct TestOrigin {
    /// The address of the manifest.
    static let address = "https://example.test/a/manifest"
    /// The time of day at which the clock begins: 2024-01-01T00:10:00Z.
    static let start = Duration.seconds(1_704_067_800)

    let clock = TestClock()
    let transport: ScriptedTransport
    let loader: ResourceLoader

    init(
        _ texts: [String: String] = [:],
        date: String? = nil,
        slowAddress: String? = nil,
        configure: (inout PresentationOptions) -> Void = { _ in }
    ) {
        let clock = clock
        transport = ScriptedTransport(texts: texts)
        var options = PresentationOptions(time: clock) { Self.start + clock.now }
        configure(&options)
        loader = ResourceLoader(
            DateTransport(base: transport, date: date, slowAddress: slowAddress, time: clock),
            policy: RecoveryPolicy(retries: 0),
            time: clock
        )
        .translatingPresentations(in: PresentationStore(options: options))
    }

    /// A transport that adds a date to the header of each response, and whose response for one address takes an hour.
    private struct DateTransport: Transport {
        let base: ScriptedTransport
        let date: String?
        let slowAddress: String?
        let time: any TimeSource

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            if request.address.text == slowAddress { try await time.sleep(for: .seconds(3_600)) }
            let response = try await base.send(request)
            return TransportResponse(
                status: response.status,
                headers: response.headers + (date.map { [HeaderField("date", $0)] } ?? []),
                address: response.address,
                expectedLength: response.expectedLength,
                body: response.body,
                record: response.record
            )
        }
    }

    /// Loads a playlist as a player does.
    func playlist(_ address: String = address) async throws -> Playlist {
        let loaded = try await loader.load(TransportRequest(ResourceAddress(address), kind: .playlist))
        return try Playlist.parse(loaded.bytes, context: PlaylistContext(address: loaded.address))
    }

    func multivariant(_ address: String = address) async throws -> MultivariantPlaylist {
        guard case .multivariant(let playlist) = try await playlist(address) else { throw UnexpectedPlaylist() }
        return playlist
    }

    func media(_ address: String) async throws -> MediaPlaylist {
        guard case .media(let playlist) = try await playlist(address) else { throw UnexpectedPlaylist() }
        return playlist
    }

    struct UnexpectedPlaylist: Error {}

    /// The number of requests for an address.
    func requestCount(_ address: String = address) -> Int {
        transport.requestedAddresses.filter { $0 == address }.count
    }

    static func manifest(_ periods: String, attributes: String) -> String {
        """
        <?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" minBufferTime="PT2S" \(attributes)>
        \(periods)</MPD>
        """
    }

    /// Returns a manifest of 20 seconds in segments of 4 seconds, with two variants and one audio track.
    static func staticManifest(_ first: String = "") -> String {
        manifest(
            first + "<Period>\(videoSet)\(audioSet)</Period>",
            attributes: #"type="static" mediaPresentationDuration="PT20S""#
        )
    }

    /// Returns a manifest of a live presentation that began ten minutes before ``start``, with a window of 20 seconds.
    static func liveManifest(_ first: String = "", attributes: String = #"minimumUpdatePeriod="PT8S""#) -> String {
        manifest(
            first + #"<Period id="1" start="PT0S">\#(videoSet)</Period>"#,
            attributes: """
                type="dynamic" availabilityStartTime="2024-01-01T00:00:00Z" timeShiftBufferDepth="PT20S" \(attributes)
                """
        )
    }

    static let videoSet = """
        <AdaptationSet contentType="video" mimeType="video/mp4" startWithSAP="1">
        <SegmentTemplate duration="4" initialization="$RepresentationID$/i.mp4" media="$RepresentationID$/$Number$.m4s"/>
        <Representation id="v1" bandwidth="1000000" codecs="avc1.64001f" width="640" height="360"/>
        <Representation id="v2" bandwidth="3000000" codecs="avc1.640028" width="1280" height="720"/></AdaptationSet>
        """

    static let audioSet = """
        <AdaptationSet contentType="audio" mimeType="audio/mp4" lang="en">
        <SegmentTemplate duration="4" initialization="$RepresentationID$/i.mp4" media="$RepresentationID$/$Number$.m4s"/>
        <Representation id="a" bandwidth="128000" codecs="mp4a.40.2"/></AdaptationSet>
        """
}
