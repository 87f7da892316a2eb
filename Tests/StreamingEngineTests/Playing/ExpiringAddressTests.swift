import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import Synchronization
import Testing

@testable import StreamingEngine

/// Tests streams whose addresses expire while they are played, as signed addresses do.
@Suite(.timeLimit(.minutes(10)))
struct ExpiringAddressTests {
    /// A server that signs the addresses of all playlists and segments when the multivariant playlist is requested.
    private struct SignedOrigin: Sendable {
        /// The time for which an address is valid.
        var lifetime = Duration.seconds(60)
        var isLive = false
        /// A Boolean value that indicates whether each media playlist signs its segments when it is requested, while
        /// its own address does not expire.
        var signsSegmentsOnly = false
        /// A Boolean value that indicates whether redundant locations are listed, with the same attributes.
        var hasBackup = false

        private static let live = LiveText()

        func resource(_ path: String, _ now: Duration) -> SyntheticOrigin.Resource? {
            let parts = path.split(separator: "?").map(String.init)
            if path == "main.m3u8" { return .text(multivariant(signature(now))) }
            let isPlaylist = parts[0].hasSuffix(".m3u8")
            if !isPlaylist || !signsSegmentsOnly {
                guard parts.count == 2, let signed = Int(parts[1]), now - .seconds(signed) <= lifetime else {
                    return .failure(TransportError(.status, "the server answered 403", status: 403))
                }
            }
            guard isPlaylist else { return .media(ByteCount(parts[0].hasPrefix("en") ? 50_000 : 400_000)) }
            let mark = signsSegmentsOnly ? signature(now) : parts[1]
            return .text(media(String(parts[0].dropLast(5)), mark, now))
        }

        private func signature(_ now: Duration) -> String { "\(now.components.seconds)" }

        private func multivariant(_ mark: String) -> String {
            func uri(_ name: String) -> String { name + (signsSegmentsOnly ? "" : "?\(mark)") }
            var text = """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="\(uri("en.m3u8"))"

                """
            for (name, rate) in [("low", 500_000), ("high", 2_000_000)] {
                for copy in hasBackup ? ["", "2"] : [""] {
                    text += "#EXT-X-STREAM-INF:BANDWIDTH=\(rate),CODECS=\"avc1.4d401e,mp4a.40.2\",AUDIO=\"a\"\n"
                    text += uri("\(name)\(copy).m3u8") + "\n"
                }
            }
            return text
        }

        private func media(_ name: String, _ mark: String, _ now: Duration) -> String {
            if isLive {
                var live = Self.live
                live.prefix = name
                return live.text(at: now).replacing(".ts\n", with: ".ts?\(mark)\n")
            }
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n"
            for number in 0..<100 { text += "#EXTINF:6,\n\(name)\(number).ts?\(mark)\n" }
            return text + "#EXT-X-ENDLIST\n"
        }
    }

    private static func requests(_ stream: OriginPlayback, _ name: String) -> Int {
        stream.events.all.count { event in
            guard case .resourceRequest(let request) = event.kind else { return false }
            return request.address.contains(name)
        }
    }

    private static func stallCount(_ stream: OriginPlayback) -> Int {
        stream.events.all.count { if case .stalled = $0.kind { true } else { false } }
    }

    @Test(arguments: [false, true], [false, true])
    func tenMinutesOnDemandArePlayedWithoutAnInterruption(signsSegmentsOnly: Bool, hasBackup: Bool) async throws {
        let origin = SignedOrigin(signsSegmentsOnly: signsSegmentsOnly, hasBackup: hasBackup)
        let stream = OriginPlayback { origin.resource($0, $1) }
        #expect(try await stream.playOut(within: .seconds(900)))
        #expect(stream.engine.snapshot.hasPlayedToEnd && stream.position == MediaTime(seconds: 600))
        #expect(stream.skipped.isEmpty && Self.stallCount(stream) == 0)
        #expect(stream.engine.snapshot.selection[.audio] != nil)
        // The addresses expire each minute; the buffer is longer than a segment.
        let reloads = Self.requests(stream, "main.m3u8")
        #expect((8...12).contains(reloads), "\(reloads)")
    }

    @Test(arguments: [false, true])
    func aLiveStreamIsPlayedWithoutAnInterruption(signsSegmentsOnly: Bool) async throws {
        let origin = SignedOrigin(isLive: true, signsSegmentsOnly: signsSegmentsOnly)
        let stream = OriginPlayback { origin.resource($0, $1) }
        #expect(try await !stream.playOut(within: .seconds(600)))
        #expect(stream.engine.snapshot.status == .readyToPlay && stream.engine.snapshot.timeControl == .playing)
        #expect(stream.skipped.isEmpty && Self.stallCount(stream) == 0)
        // Each reload of a media playlist signs the segments again.
        let reloads = Self.requests(stream, "main.m3u8")
        #expect(signsSegmentsOnly ? reloads == 1 : (8...12).contains(reloads), "\(reloads)")
    }

    @Test(arguments: [false, true]) func aServerThatDeniesEverythingIsAskedFewTimes(isLive: Bool) async throws {
        let origin = SignedOrigin(lifetime: .seconds(-1), isLive: isLive)
        let stream = OriginPlayback { origin.resource($0, $1) }
        #expect(try await stream.playOut(within: .seconds(900)))
        let error = try #require(stream.engine.snapshot.error)
        #expect(error.code == .notLoaded && error.status == 403)
        #expect(stream.origin.requestCount < 20)
        #expect(Self.requests(stream, "main.m3u8") <= 4)
    }

    @Test func segmentsThatAreDeniedForEverAreSkippedWithFewRequests() async throws {
        let origin = SignedOrigin(lifetime: .seconds(10_000))
        let stream = OriginPlayback { path, now in
            path.contains("20.ts")
                ? .failure(TransportError(.status, "the server answered 403", status: 403))
                : origin.resource(path, now)
        }
        #expect(try await stream.playOut(within: .seconds(900)))
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        #expect(Self.requests(stream, "main.m3u8") <= 4)
        #expect(Self.requests(stream, "20.ts") <= 12)
    }
}
