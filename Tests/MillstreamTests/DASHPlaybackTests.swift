import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

/// Plays DASH presentations from a simulated origin with the real engine.
@Suite struct DASHPlaybackTests {
    private static func manifest(_ periods: String, _ attributes: String) -> String {
        """
        <?xml version="1.0"?>
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:cenc="urn:mpeg:cenc:2013" minBufferTime="PT2S" \(attributes)>
        \(periods)</MPD>
        """
    }

    /// Returns the adaptation sets of two video representations and an audio representation, in segments of 4 seconds.
    private static func sets(_ protection: String = "") -> String {
        let template = #"duration="4" initialization="$RepresentationID$.mp4" media="$RepresentationID$-$Number$.m4s""#
        return """
            <AdaptationSet contentType="video" mimeType="video/mp4" startWithSAP="1">\(protection)
            <SegmentTemplate \(template)/>
            <Representation id="low" bandwidth="500000" codecs="avc1.42c01e" width="640" height="360"/>
            <Representation id="high" bandwidth="2000000" codecs="avc1.42c01e" width="1280" height="720"/></AdaptationSet>
            <AdaptationSet contentType="audio" mimeType="audio/mp4" lang="en">\(protection)<SegmentTemplate \(template)/>
            <Representation id="en" bandwidth="128000" codecs="mp4a.40.2"/></AdaptationSet>
            """
    }

    private static func film(_ protection: String = "") -> [String: String] {
        var texts = [
            PlayedOrigin.origin + "main.m3u8": manifest(
                "<Period>\(sets(protection))</Period>",
                #"type="static" mediaPresentationDuration="PT38S""#
            )
        ]
        addSegments(1...10, to: &texts)
        return texts
    }

    private static func addSegments(_ numbers: ClosedRange<Int>, to texts: inout [String: String]) {
        for id in ["low", "high", "en"] {
            texts[PlayedOrigin.origin + "\(id).mp4"] = "header \(id)"
            for number in numbers { texts[PlayedOrigin.origin + "\(id)-\(number).m4s"] = "media \(id) \(number)" }
        }
    }

    @Test func presentationIsPlayedToItsEnd() async throws {
        try await PlayedOrigin(Self.film()).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.hasPlayedToEnd || $0.status == .failed }
            #expect(item.error == nil && item.state.hasPlayedToEnd)
            #expect(item.duration == MediaTime(seconds: 38))
            let requests = world.transport.requestedAddresses
            #expect(requests.filter { $0.hasSuffix("main.m3u8") }.count == 1)
            let numbers = requests.filter { $0.contains("/en-") }
            #expect(numbers == (1...10).map { PlayedOrigin.origin + "en-\($0).m4s" })
            // The log names the playlists of the translation.
            let addresses = Set(item.accessLog.events.compactMap(\.uri))
            #expect(addresses.allSatisfy { $0.hasPrefix(PlayedOrigin.origin + "main.m3u8") }, "\(addresses)")
        }
    }

    @Test func propertiesAreLoadedFromTheManifest() async throws {
        try await PlayedOrigin(Self.film()).run { world in
            let asset = world.item().asset
            let (duration, isPlayable) = try await asset.load(.duration, .isPlayable)
            #expect(duration == MediaTime(seconds: 38) && isPlayable)
            #expect(asset.loadedValue(.variants)?.map(\.resolution?.height) == [360, 720])
            #expect(world.transport.requestedAddresses == [PlayedOrigin.origin + "main.m3u8"])
        }
    }

    @Test(arguments: [nil, "application/dash+xml"]) func bridgeThatIsOffFailsAsInAVFoundation(
        _ mimeType: String?
    ) async throws {
        try await PlayedOrigin(Self.film()).run { world in
            var options = AssetOptions()
            options.translatesDASH = false
            options.overrideMIMEType = mimeType
            let item = world.item(options: options)
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.status == .failed }
            #expect(item.error?.code == .needsTranslation && item.error?.number == -11_850)
            #expect(item.error?.message.contains("DASH bridge") == true)
        }
    }

    @Test func mediaTypeOfManifestsIsAccepted() async throws {
        try await PlayedOrigin(Self.film()).run { world in
            var options = AssetOptions()
            options.overrideMIMEType = "application/dash+xml"
            let asset = world.item(options: options).asset
            let duration = try await asset.load(.duration)
            #expect(duration == MediaTime(seconds: 38))
        }
    }

    @Test(arguments: ["urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed", "urn:mpeg:dash:mp4protection:2011"])
    func protectedPresentationIsNotPlayable(_ scheme: String) async throws {
        let protection = #"<ContentProtection schemeIdUri="\#(scheme)" value="cenc"/>"#
        try await PlayedOrigin(Self.film(protection)).run { world in
            let item = world.item()
            let isPlayable = try await item.asset.load(.isPlayable)
            #expect(!isPlayable)
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.status == .failed }
            #expect(item.error?.code == .protected && item.error?.number == -11_831)
            #expect(!world.transport.requestedAddresses.contains { $0.hasSuffix(".m4s") })
        }
    }

    @Test(arguments: [
        ("<MPD", StreamingError.Code.unreadablePlaylist, -11_853), ("<MPD><Period/></MPD>", .unsupported, -11_833),
    ])
    func manifestThatCannotBePlayedFailsWithTheReason(
        _ text: String,
        _ code: StreamingError.Code,
        _ number: Int
    ) async throws {
        try await PlayedOrigin([PlayedOrigin.origin + "main.m3u8": text + " "]).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.status == .failed }
            #expect(item.error?.code == code && item.error?.number == number)
        }
    }

    @Test func livePresentationIsPlayedWhileItsWindowMovesUntilItEnds() async throws {
        // The time of day begins a million seconds after 1970, and the presentation 100 seconds before.
        let attributes = """
            type="dynamic" availabilityStartTime="1970-01-12T13:45:00Z" timeShiftBufferDepth="PT40S" minimumUpdatePeriod="PT10S"
            """
        let live = Self.manifest(#"<Period id="1" start="PT0S">\#(Self.sets())</Period>"#, attributes)
        let ended = Self.manifest(
            #"<Period id="1" start="PT0S">\#(Self.sets())</Period>"#,
            """
            type="dynamic" availabilityStartTime="1970-01-12T13:45:00Z" timeShiftBufferDepth="PT40S" \
            mediaPresentationDuration="PT240S"
            """
        )
        var texts: [String: String] = [:]
        Self.addSegments(1...60, to: &texts)
        var responses = texts.mapValues { [ScriptedTransport.Response.text($0)] }
        responses[PlayedOrigin.origin + "main.m3u8"] =
            Array(repeating: ScriptedTransport.Response.text(live), count: 10) + [.text(ended)]
        try await PlayedOrigin(responses: responses).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.hasPlayedToEnd || $0.status == .failed }
            #expect(item.error == nil && item.state.hasPlayedToEnd)
            let requests = world.transport.requestedAddresses
            let numbers = requests.compactMap { address in
                address.hasPrefix(PlayedOrigin.origin + "en-")
                    ? Int(address.dropFirst((PlayedOrigin.origin + "en-").count).dropLast(4)) : nil
            }
            let first = try #require(numbers.first)
            // Playback begins near the live edge, which is at segment 25, and reaches the last segment without a hole.
            #expect((15...25).contains(first), "\(first)")
            #expect(numbers == Array(first...60))
            // The manifest allows a load each ten seconds: eleven versions in the 140 seconds until the end.
            #expect(requests.filter { $0.hasSuffix("main.m3u8") }.count == 11)
        }
    }
}
