import AssetStorage
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests keys and initialization sections that several media playlists of a presentation name.
@Suite(.timeLimit(.minutes(5))) struct SharedKeyDownloadTests {
    private static let base = "https://films.example/"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    /// A presentation whose video and two audio renditions have one key and one initialization section.
    private static var origin: ScriptedTransport {
        func media(_ name: String) -> String {
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x01
            #EXT-X-MAP:URI="i.mp4"
            #EXTINF:4,
            \(name)0.m4s
            #EXTINF:4,
            \(name)1.m4s
            #EXT-X-ENDLIST

            """
        }
        var texts = [
            base + "top.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a"
            v.m3u8

            """,
            base + "k": String(repeating: "k", count: 16), base + "i.mp4": String(repeating: "i", count: 500),
        ]
        for name in ["en", "ko", "v"] {
            texts[base + name + ".m3u8"] = media(name)
            for number in 0...1 { texts[base + "\(name)\(number).m4s"] = "\(name) \(number)" }
        }
        return ScriptedTransport(texts: texts)
    }

    @Test func filesOfSeveralPlaylistsAreFetchedOnce() async throws {
        let origin = Self.origin
        let asset = try await AssetDownload(
            ResourceAddress(Self.base + "top.m3u8"),
            into: library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            configuration: DownloadConfiguration(selection: DownloadSelection(audio: .all))
        ).run()
        #expect(asset.state == .complete)
        let requests = origin.requestedAddresses.filter { !$0.hasSuffix(".m3u8") }
        #expect(requests.count == Set(requests).count && requests.count == 8, "\(requests)")
        let resources = try library.resources(asset.id)
        #expect(resources.count { $0.kind == .key } == 3 && resources.count { $0.kind == .initialization } == 3)
        for resource in resources where resource.isSharedByPlaylists {
            let expected =
                resource.kind == .key ? String(repeating: "k", count: 16) : String(repeating: "i", count: 500)
            #expect(try temporary.text(resource.path, of: asset.id) == expected, "\(resource.path)")
        }
        #expect(try library.verify(asset.id).damaged.isEmpty)
    }

    /// A key that cannot be fetched is requested for each playlist, so that one failure does not decide about the others.
    @Test func filesWaitForTheOneWithTheSameAddress() async throws {
        let address = ResourceAddress(Self.base + "top.m3u8")
        let found = try await DownloadResolver(
            loader: ResourceLoader(Self.origin),
            selection: DownloadSelection(audio: .all)
        ).resolve(address)
        let id = try library.addAsset(source: address, title: "A", selection: "")
        try library.planDownload(of: id, source: found.playlist, at: found.address, renditions: found.renditions)
        let keys = try library.missingResources(id).filter { $0.kind == .key }
        try #require(keys.count == 3)
        var queue = FetchQueue()
        queue.append(keys)
        queue.append([])
        #expect(queue.next() == .fetch(keys[0]) && queue.next() == .wait)
        queue.fetchSucceeded(keys[0])
        #expect(queue.next() == .fetch(keys[1]) && queue.next() == .wait)
        queue.fetchFailed(keys[1])
        #expect(queue.next() == .fetch(keys[2]) && queue.next() == .wait)
        queue.fetchSucceeded(keys[2])
        #expect(queue.next() == .fail)
    }
}
