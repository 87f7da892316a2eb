import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PresentationLoading
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// A clock whose time passes only by waits of at least a second, such as those between the loads of a playlist.
private final class ReloadTime: TimeSource {
    private let passed = Mutex(Duration.zero)

    var now: Duration { passed.withLock { $0 } }

    func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: .milliseconds(1))
        if duration >= .seconds(1) { passed.withLock { $0 += duration } }
    }
}

/// Tests recordings of live DASH presentations.
@Suite(.timeLimit(.minutes(5))) struct DASHRecordingTests {
    private static let base = "https://live.example/"
    private static let source = ResourceAddress(base + "manifest.mpd")
    /// 2024-01-01T00:10:00Z, ten minutes after the presentation began, in seconds since 1970.
    private static let start = Duration.seconds(1_704_067_800)
    private static let manifest = """
        <?xml version="1.0"?>
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" availabilityStartTime="2024-01-01T00:00:00Z" \
        minBufferTime="PT2S" timeShiftBufferDepth="PT600S" minimumUpdatePeriod="PT4S"><Period id="1" start="PT0S">
        <AdaptationSet contentType="video" mimeType="video/mp4" startWithSAP="1">
        <SegmentTemplate duration="4" initialization="i.mp4" media="$Number$.m4s"/>
        <Representation id="v" bandwidth="1000000" codecs="avc1.64001f" width="640" height="360"/>
        </AdaptationSet></Period></MPD>
        """

    private let temporary: TemporaryLibrary
    private let time = ReloadTime()

    init() throws { temporary = try TemporaryLibrary() }

    /// Records a part of the presentation.
    ///
    /// - Parameters:
    ///   - seconds: The duration.
    ///   - failure: Returns the error of a load of the manifest, by the number of loads before it; `nil` for none.
    /// - Returns: The recorded asset, and the number of loads of the manifest.
    /// - Throws: `DownloadError`.
    private func record(
        seconds: Int64,
        failure: @escaping @Sendable (_ load: Int) -> TransportError?
    ) async throws -> (asset: StoredAsset, loads: Int) {
        let loads = Mutex(0)
        let transport = SyntheticOrigin(time: time) { address, _ in
            guard address == Self.source.text else { return .bytes(Array("media of \(address)".utf8)) }
            let load = loads.withLock { count in
                count += 1
                return count - 1
            }
            if let error = failure(load) { return .failure(error) }
            return .text(Self.manifest)
        }
        let options = PresentationOptions(time: time) { [time] in Self.start + time.now }
        var configuration = DownloadConfiguration()
        configuration.recording = RecordingOptions(duration: MediaTime(seconds: seconds))
        let asset = try await AssetDownload(
            Self.source,
            into: temporary.library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0), time: time)
                .translatingPresentations(in: PresentationStore(options: options)),
            configuration: configuration,
            time: time
        ).run()
        return (asset, loads.withLock { $0 })
    }

    /// Returns the addresses of the recorded segments; `nil` for gaps.
    private func segments(of asset: StoredAsset) throws -> [String?] {
        let text = try temporary.text("variant-0/media.m3u8", of: asset.id)
        return try MediaPlaylist(parsing: Array(text.utf8)).segments.map { segment in
            segment.isGap ? nil : try temporary.text("variant-0/\(segment.uri)", of: asset.id)
        }
    }

    @Test(arguments: ["404", "410", "500", "503", "reset", "page"])
    func recordingContinuesAfterAnOutageOfTheManifest(kind: String) async throws {
        let outage = 5..<15
        let (asset, loads) = try await record(seconds: 100) { load in
            guard outage.contains(load) else { return nil }
            if let status = Int(kind) { return TransportError(.status, "the server answered \(kind)", status: status) }
            let code: TransportError.Code = kind == "reset" ? .connectionLost : .wrongContent
            return TransportError(code, "the connection was reset")
        }
        #expect(loads > outage.upperBound)
        #expect(asset.state == .complete && asset.duration == MediaTime(seconds: 100))
        let segments = try segments(of: asset)
        let match = try #require(segments.first??.firstMatch(of: /([0-9]+)\.m4s/))
        let first = try #require(Int(match.output.1))
        // Nothing is lost, because the manifest still lists it.
        #expect(segments == (first..<(first + 25)).map { "media of \(Self.base)\($0).m4s" })
    }

    @Test func recordingEndsWithTheErrorIfTheManifestStaysUnavailable() async throws {
        let error = await #expect(throws: DownloadError.self) {
            try await record(seconds: 1_000) { load in
                load < 5 ? nil : TransportError(.status, "the server answered 503", status: 503)
            }
        }
        #expect(error?.message.contains("503") == true, "\(String(describing: error))")
        let asset = try #require(try temporary.library.assets().first)
        #expect(asset.state == .complete && asset.isPlayableOffline)
    }
}
