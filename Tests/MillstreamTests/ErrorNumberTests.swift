import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

/// Tests that each error has AVFoundation's error number, by producing the error.
@Suite struct ErrorNumberTests {
    /// A presentation that fails with a known error.
    struct Failing: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let responses: [String: [ScriptedTransport.Response]]
        let code: StreamingError.Code
        let number: Int
        /// The status in the error log if it differs from the error number: the HTTP status.
        var loggedStatus: Int?

        init(
            _ name: String,
            _ responses: [String: ScriptedTransport.Response],
            _ code: StreamingError.Code,
            _ number: Int,
            loggedStatus: Int? = nil
        ) {
            testDescription = name
            self.responses = responses.reduce(into: [:]) { $0[PlayedOrigin.origin + $1.key] = [$1.value] }
            self.code = code
            self.number = number
            self.loggedStatus = loggedStatus
        }
    }

    private static func media(_ tags: String) -> ScriptedTransport.Response {
        .text("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(tags)#EXTINF:6,\ns0.ts\n#EXTINF:6,\ns1.ts\n#EXT-X-ENDLIST\n")
    }

    private static func failure(_ code: TransportError.Code, status: Int? = nil) -> ScriptedTransport.Response {
        .failure(TransportError(code, "it failed", address: ResourceAddress(PlayedOrigin.origin), status: status))
    }

    static let failing: [Failing] = [
        Failing("text", ["main.m3u8": .text("This is no media.")], .notRecognized, -11_828),
        Failing(
            "DASH",
            ["main.m3u8": .text("<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"></MPD>")],
            .needsTranslation,
            -11_850
        ),
        Failing(
            "no segments",
            ["main.m3u8": .text("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-ENDLIST\n")],
            .unreadablePlaylist,
            -11_853
        ),
        Failing(
            "a video layout that is not supported",
            ["main.m3u8": .text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,REQ-VIDEO-LAYOUT=\"CH-STEREO\"\nlow.m3u8\n")],
            .unsupported,
            -11_833
        ),
        Failing(
            "protected",
            [
                "main.m3u8": media(
                    "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://k\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n"
                ),
                "s0.ts": .text("media"), "s1.ts": .text("media"),
            ],
            .protected,
            -11_831
        ),
        Failing("not found", [:], .notLoaded, -11_849, loggedStatus: 404),
        Failing("wrong content", ["main.m3u8": failure(.wrongContent)], .notLoaded, -11_849),
        Failing("no connection", ["main.m3u8": failure(.cannotConnect)], .unreachable, -11_863),
        Failing("no such host", ["main.m3u8": failure(.unknownHost)], .unreachable, -11_863),
        Failing(
            "no key",
            [
                "main.m3u8": media("#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n"), "key": failure(.status, status: 403),
                "s0.ts": .text("media"), "s1.ts": .text("media"),
            ],
            .keyNotLoaded,
            -11_835,
            loggedStatus: 403
        ),
        Failing(
            "a live playlist that does not change",
            [
                "main.m3u8": .text(PlayedOrigin.media("s", count: 3, ended: false)), "s0.ts": .text("media"),
                "s1.ts": .text("media"), "s2.ts": .text("media"),
            ],
            .stuck,
            -11_866
        ),
        Failing(
            "not decryptable",
            [
                "main.m3u8": media("#EXT-X-KEY:METHOD=AES-128,URI=\"key\",IV=0x00000000000000000000000000000001\n"),
                "key": .bytes(Array(repeating: 1, count: 16)), "s0.ts": .text("media"), "s1.ts": .text("media"),
            ],
            .damaged,
            -11_821
        ),
    ]

    @Test(arguments: failing) func failureHasTheErrorNumberOfAVFoundation(failing: Failing) async throws {
        try await PlayedOrigin(responses: failing.responses).run { world in
            var options = AssetOptions()
            options.translatesDASH = false
            let item = world.item(options: options)
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.status == .failed }
            let error = try #require(item.error)
            #expect(error.code == failing.code && error.number == failing.number, "\(error.code.rawValue): \(error)")
            let status = failing.loggedStatus ?? failing.number
            #expect(item.errorLog.events.map(\.errorStatusCode).contains(status), "\(item.errorLog.events)")
        }
    }

    @Test func everyErrorCodeHasANumber() {
        let numbers: [StreamingError.Code: Int] = [
            .notRecognized: -11_828, .needsTranslation: -11_850, .unreadablePlaylist: -11_853, .unsupported: -11_833,
            .protected: -11_831, .notLoaded: -11_849, .unreachable: -11_863, .keyNotLoaded: -11_835, .stuck: -11_866,
            .unreadableFile: -11_829, .invalidFile: -11_822, .incompleteFile: -11_829, .damaged: -11_821,
            .pipelineLost: -11_819,
            StreamingError.Code(rawValue: "new"): -11_800,
        ]
        for (code, number) in numbers { #expect(StreamingError(code, "").number == number, "\(code.rawValue)") }
        // Every code is produced above, except an unknown one and those that other suites produce.
        let produced = Set(Self.failing.map(\.code))
        #expect(
            numbers.keys.filter { !produced.contains($0) }.map(\.rawValue).sorted() == [
                "incomplete-file", "invalid-file", "new", "pipeline-lost", "unreadable-file",
            ]
        )
    }
}
