import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PresentationLoading
import ResourceAddressing
import Synchronization
import Testing

struct LivePresentationTests {
    private static let media = TestOrigin.address + "#millstream-playlist=video-v1.m3u8"

    @Test func playlistsMoveWithTheClockAndTheManifestIsLoadedAsItAllows() async throws {
        let origin = TestOrigin([TestOrigin.address: TestOrigin.liveManifest()])
        _ = try await origin.multivariant()
        var previous: MediaPlaylist?
        for step in 0..<10 {
            let playlist = try await origin.media(Self.media)
            #expect(!playlist.hasEndMarker && playlist.segments.count == 5)
            #expect(playlist.segments.last?.sequence == 149 + Int64(step) / 2)
            if let previous {
                let known = Dictionary(uniqueKeysWithValues: previous.segments.map { ($0.uri, $0.sequence) })
                #expect(playlist.segments.allSatisfy { known[$0.uri] ?? $0.sequence == $0.sequence })
            }
            previous = playlist
            // After 18 seconds, three versions of the manifest were due: at 0, 8 and 16 seconds.
            #expect(origin.requestCount() == 1 + step / 4)
            origin.clock.advance(by: .seconds(2))
        }
    }

    @Test func manifestOfUnlimitedFrequencyIsLoadedOnceASecond() async throws {
        let text = TestOrigin.liveManifest(attributes: #"minimumUpdatePeriod="PT0S""#)
        let origin = TestOrigin([TestOrigin.address: text])
        _ = try await origin.multivariant()
        for _ in 0..<20 {
            _ = try await origin.media(Self.media)
            origin.clock.advance(by: .milliseconds(250))
        }
        #expect(origin.requestCount() == 5)
    }

    @Test func manifestWithoutUpdatesIsLoadedOnce() async throws {
        let origin = TestOrigin([TestOrigin.address: TestOrigin.liveManifest(attributes: "")])
        _ = try await origin.multivariant()
        origin.clock.advance(by: .seconds(600))
        #expect(try await origin.media(Self.media).segments.last?.sequence == 299)
        #expect(origin.requestCount() == 1)
    }

    @Test func multivariantPlaylistIsAnsweredFromMemoryUntilAnUpdateIsDue() async throws {
        let origin = TestOrigin([TestOrigin.address: TestOrigin.liveManifest()])
        for _ in 0..<3 { _ = try await origin.multivariant() }
        #expect(origin.requestCount() == 1)
        origin.clock.advance(by: .seconds(8))
        _ = try await origin.multivariant()
        #expect(origin.requestCount() == 2)
    }

    @Test func nextVersionIsLoadedFromItsLocation() async throws {
        let first = TestOrigin.liveManifest("<Location>next.mpd?x=1#y</Location>")
        let origin = TestOrigin([
            TestOrigin.address: first, "https://example.test/a/next.mpd?x=1": TestOrigin.liveManifest(),
        ])
        _ = try await origin.multivariant()
        origin.clock.advance(by: .seconds(8))
        _ = try await origin.media(Self.media)
        #expect(origin.transport.requestedAddresses == [TestOrigin.address, "https://example.test/a/next.mpd?x=1"])
    }

    @Test func locationOfAFileIsNotFollowed() async throws {
        let first = TestOrigin.liveManifest("<Location>file:///etc/passwd</Location>")
        let origin = TestOrigin([TestOrigin.address: first])
        _ = try await origin.multivariant()
        origin.clock.advance(by: .seconds(8))
        _ = try await origin.media(Self.media)
        #expect(origin.transport.requestedAddresses == [TestOrigin.address, TestOrigin.address])
    }

    @Test(arguments: [
        ("http-iso:2014", "https://example.test/time"), ("http-xsdate:2014", "/time"),
        ("direct:2014", "2024-01-01T00:10:40Z"), ("http-head:2014", "https://example.test/head"),
        ("http-head:2012", "/head https://example.test/other"),
    ])
    func clockOfTheServerDeterminesTheWindow(_ scheme: String, _ value: String) async throws {
        let clock = #"<UTCTiming schemeIdUri="urn:mpeg:dash:utc:\#(scheme)" value="\#(value)"/>"#
        let origin = TestOrigin(
            [
                TestOrigin.address: TestOrigin.liveManifest(clock),
                "https://example.test/time": "2024-01-01T00:10:40Z\n",
                "https://example.test/head": "",
            ],
            date: "Mon, 01 Jan 2024 00:10:40 GMT"
        )
        _ = try await origin.multivariant()
        #expect(try await origin.media(Self.media).segments.last?.sequence == 159)
    }

    /// 2024-01-01T00:10:40.5Z as an NTP timestamp, and a body of another length.
    @Test(arguments: [([0xE9, 0x3C, 0x81, 0x80], 159), ([0xE9], 149)] as [([UInt8], Int64)])
    func clockWithTimestampsDeterminesTheWindow(_ seconds: [UInt8], _ last: Int64) async throws {
        let clock = #"<UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-ntp:2014" value="/ntp"/>"#
        let origin = TestOrigin([TestOrigin.address: TestOrigin.liveManifest(clock)])
        origin.transport.setResponses(for: "https://example.test/ntp", .bytes(seconds + [0x80, 0, 0, 0]))
        _ = try await origin.multivariant()
        #expect(try await origin.media(Self.media).segments.last?.sequence == last)
    }

    @Test func clockThatCannotBeReachedIsSkipped() async throws {
        let clock = #"<UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-iso:2014" value="https://example.test/time"/>"#
        let origin = TestOrigin([TestOrigin.address: TestOrigin.liveManifest(clock)])
        _ = try await origin.multivariant()
        #expect(try await origin.media(Self.media).segments.last?.sequence == 149)
        #expect(origin.requestCount("https://example.test/time") == 1)
    }

    @Test(arguments: [
        ("http-head:2014", "/time", "the clock https://example.test/time is skipped: its response has no date"),
        ("ntp:2014", "time.example.test", "a clock is skipped: its scheme urn:mpeg:dash:utc:ntp:2014 is not supported"),
    ])
    func clockThatCannotBeUsedIsReported(_ scheme: String, _ value: String, _ message: String) async throws {
        let clock =
            #"<UTCTiming schemeIdUri="urn:mpeg:dash:utc:\#(scheme)" value="\#(value)"/>"#
            + #"<UTCTiming schemeIdUri="urn:mpeg:dash:utc:direct:2014" value="2024-01-01T00:10:40Z"/>"#
        let messages = Mutex<[String]>([])
        let texts = [TestOrigin.address: TestOrigin.liveManifest(clock), "https://example.test/time": ""]
        let origin = TestOrigin(texts) { options in
            options.reportProblem = { message in messages.withLock { $0.append(message) } }
        }
        _ = try await origin.multivariant()
        // The next clock is used.
        #expect(try await origin.media(Self.media).segments.last?.sequence == 159)
        #expect(messages.withLock { $0 } == [message])
    }

    @Test func failedUpdateIsReportedAndRepeatedByTheNextRequest() async throws {
        let origin = TestOrigin([TestOrigin.address: TestOrigin.liveManifest()])
        _ = try await origin.multivariant()
        origin.clock.advance(by: .seconds(8))
        origin.transport.setResponses(
            for: TestOrigin.address,
            .failure(TransportError(.status, "busy", status: 503)),
            .text(TestOrigin.liveManifest())
        )
        let error = await #expect(throws: TransportError.self) { try await origin.media(Self.media) }
        #expect(error?.status == 503)
        #expect(try await origin.media(Self.media).segments.last?.sequence == 151)
    }

    @Test func endOfThePresentationEndsThePlaylistsAndTheLoads() async throws {
        let origin = TestOrigin([TestOrigin.address: TestOrigin.liveManifest()])
        _ = try await origin.multivariant()
        let ended = TestOrigin.liveManifest(attributes: #"mediaPresentationDuration="PT608S""#)
        origin.transport.setResponses(for: TestOrigin.address, .text(ended))
        origin.clock.advance(by: .seconds(8))
        let playlist = try await origin.media(Self.media)
        #expect(playlist.hasEndMarker && playlist.segments.last?.sequence == 151)
        origin.clock.advance(by: .seconds(60))
        #expect(try await origin.media(Self.media).hasEndMarker)
        #expect(origin.requestCount() == 2)
    }

    @Test func presentationThatHasNotBegunIsRefusedWithTheReason() async throws {
        let text = TestOrigin.liveManifest().replacing("2024-01-01T00:00:00Z", with: "2024-01-01T01:00:00Z")
        let origin = TestOrigin([TestOrigin.address: text])
        let error = await #expect(throws: TransportError.self) { try await origin.playlist() }
        #expect(error?.message.contains("no segment of the presentation is available yet") == true)
    }
}
