import DASHManifest
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PresentationLoading
import ResourceAddressing
import Synchronization
import Testing

struct ManifestUpdatingTests {
    private static let media = TestOrigin.address + "#millstream-playlist=video-v1.m3u8"
    private static let patchURL = "https://example.test/a/patch?t=1"
    private static let link = #"xmlns:xlink="http://www.w3.org/1999/xlink" xlink:actuate="onLoad""#

    // MARK: Remote elements

    /// Returns a static manifest with a period of the manifest after remote periods.
    private static func remote(_ references: [String]) -> String {
        let periods = references.map { #"<Period \#(link) xlink:href="\#($0)" duration="PT4S"/>"# }
        return TestOrigin.manifest(
            periods.joined() + #"<Period duration="PT20S">\#(TestOrigin.videoSet)</Period>"#,
            attributes: #"type="static""#
        )
    }

    private static let remotePeriod = #"<Period duration="PT8S">\#(TestOrigin.videoSet)</Period>"#

    @Test func remotePeriodIsLoadedAndInserted() async throws {
        let origin = TestOrigin([
            TestOrigin.address: Self.remote(["../p?q=1"]), "https://example.test/p?q=1": Self.remotePeriod,
        ])
        _ = try await origin.multivariant()
        #expect(try await origin.media(Self.media).segments.count == 7)
        #expect(origin.transport.requestedAddresses == [TestOrigin.address, "https://example.test/p?q=1"])
    }

    @Test func loadsOfRemoteElementsAreLimited() async throws {
        let references = (0..<6).map { "https://example.test/\($0)" }
        var texts = Dictionary(uniqueKeysWithValues: references.map { ($0, Self.remotePeriod) })
        texts[TestOrigin.address] = Self.remote(references)
        let origin = TestOrigin(texts) { $0.remoteElementLoadCount = 2 }
        _ = try await origin.multivariant()
        #expect(origin.transport.requests.count == 3)
        let size = Self.remote(references).utf8.count
        let small = TestOrigin(texts) { $0.manifest.byteCount = size + Self.remotePeriod.utf8.count + 10 }
        #expect(try await small.multivariant().variants.count == 2)
        let playlist = try await small.media(Self.media)
        // The periods that are left out are gaps.
        #expect(playlist.segments.filter { !$0.isGap }.count == 7)
    }

    @Test func remoteElementThatCannotBeLoadedIsLeftOut() async throws {
        let origin = TestOrigin([TestOrigin.address: Self.remote(["missing", "file:///etc/passwd"])])
        _ = try await origin.multivariant()
        #expect(try await origin.media(Self.media).segments.count == 5)
        #expect(origin.transport.requestedAddresses == [TestOrigin.address, "https://example.test/a/missing"])
    }

    /// The paths of a remote element would name files beside the manifest, unless it has an HTTP base URL.
    ///
    /// The base URLs of elements of other namespaces do not count, and neither do those of segment lists.
    @Test(arguments: [
        ("", "", 5), ("https://cdn.test/", "", 7), ("", "https://cdn.test/", 7), ("b/", "file:///b/", 5),
        ("https://cdn.test/", "file:///b/", 5), ("file:///b/", "https://cdn.test/", 7),
        (#"<x:BaseURL xmlns:x="urn:x">https://e.test/</x:BaseURL>"#, "", 5),
        ("", #"<x:BaseURL xmlns:x="urn:x">https://e.test/</x:BaseURL>"#, 5),
        ("", "<SegmentList><BaseURL>https://e.test/</BaseURL></SegmentList>", 5),
    ])
    func remoteElementOfALocalManifestNeedsAnHTTPBase(_ outer: String, _ inner: String, count: Int) async throws {
        func base(_ text: String) -> String {
            text.isEmpty || text.hasPrefix("<") ? text : "<BaseURL>\(text)</BaseURL>"
        }
        let manifest = TestOrigin.manifest(
            base(outer) + #"<Period \#(Self.link) xlink:href="https://example.test/p" duration="PT4S"/>"#
                + #"<Period duration="PT20S">\#(TestOrigin.videoSet)</Period>"#,
            attributes: #"type="static""#
        )
        let address = "file:///a/manifest"
        let remote = #"<Period duration="PT8S">\#(base(inner))\#(TestOrigin.videoSet)</Period>"#
        let problems = Mutex<[String]>([])
        let origin = TestOrigin([address: manifest, "https://example.test/p": remote]) { options in
            options.reportProblem = { problem in problems.withLock { $0.append(problem) } }
        }
        #expect(try await origin.multivariant(address).variants.count == 2)
        let playlist = try await origin.media(address + "#millstream-playlist=video-v1.m3u8")
        let segments = playlist.segments.filter { !$0.isGap }
        #expect(segments.count == count)
        #expect(origin.transport.requestedAddresses == [address, "https://example.test/p"])
        let isInserted = count == 7
        let refusals = problems.withLock { $0 }.filter { $0.contains("would name local files") }
        #expect(refusals.count == (isInserted ? 0 : 1))
        if isInserted { #expect(segments.first?.address.text.hasPrefix("https://cdn.test/") == true) }
    }

    /// The report does not contain the token of a link.
    @Test(arguments: [
        ("p.xml", "p.xml"), ("p.xml?token=abcdefghijklmnop", "p.xml?token=abcd…"),
        ("ftp://user:password@example.test/p.xml", "ftp://example.test/p.xml"),
    ])
    func linkToALocalFileIsReported(_ link: String, _ text: String) async throws {
        let problems = Mutex<[String]>([])
        let origin = TestOrigin(["file:///a/manifest": Self.remote([link])]) { options in
            options.reportProblem = { problem in problems.withLock { $0.append(problem) } }
        }
        #expect(try await origin.multivariant("file:///a/manifest").variants.count == 2)
        #expect(origin.transport.requestedAddresses == ["file:///a/manifest"])
        let found = problems.withLock { $0 }
        let reason = "it has no HTTP URL, or there are too many remote elements, or too many within each other"
        #expect(found == ["the remote element \(text) is not loaded: \(reason)"])
    }

    @Test func documentOfSeveralElementsIsLoadedOnce() async throws {
        let address = "https://example.test/p"
        let manifest = Self.remote([address, address, address])
        let origin = TestOrigin([TestOrigin.address: manifest, address: Self.remotePeriod])
        _ = try await origin.multivariant()
        #expect(try await origin.media(Self.media).segments.count == 11)
        #expect(origin.transport.requestedAddresses == [TestOrigin.address, address])
    }

    /// A period that begins later is loaded ten seconds before, though the manifest is not loaded again.
    @Test func remotePeriodIsLoadedBeforeItBegins() async throws {
        let period = #"<Period xmlns:xlink="http://www.w3.org/1999/xlink" id="2" start="PT640S" xlink:href="../p"/>"#
        let remote = #"<Period id="2" start="PT640S">\#(TestOrigin.videoSet)</Period>"#
        let manifest = TestOrigin.liveManifest(attributes: "")
            .replacingOccurrences(of: "</MPD>", with: period + "</MPD>")
        let origin = TestOrigin([TestOrigin.address: manifest, "https://example.test/p": remote])
        _ = try await origin.multivariant()
        origin.clock.advance(by: .seconds(29))
        _ = try await origin.media(Self.media)
        #expect(origin.transport.requestedAddresses == [TestOrigin.address])
        origin.clock.advance(by: .seconds(1))
        for _ in 0..<2 { _ = try await origin.media(Self.media) }
        #expect(origin.transport.requestedAddresses == [TestOrigin.address, "https://example.test/p"])
        origin.clock.advance(by: .seconds(20))
        let playlist = try await origin.media(Self.media)
        #expect(playlist.segments.last?.address.text == "https://example.test/a/v1/2.m4s")
        #expect(Set(playlist.segments.map(\.discontinuitySequence)).count == 2)
        #expect(origin.transport.requests.count == 2)
    }

    /// Each load takes ten seconds until it fails; eight run at a time.
    @Test func unreachableRemoteElementsAreLeftOutAfterACommonTime() async throws {
        let references = (0..<1_000).map { "https://example.test/\($0)" }
        let origin = TestOrigin([TestOrigin.address: Self.remote(references)]) { options in
            let clock = options.time as? TestClock
            options.reportProblem = { _ in clock?.advance(by: .seconds(10)) }
        }
        _ = try await origin.multivariant()
        #expect(origin.transport.requests.count == 9)
        #expect(try await origin.media(Self.media).segments.count == 5)
    }

    @Test(.timeLimit(.minutes(5))) func loadThatTakesTooLongIsCanceled() async throws {
        let slow = "https://example.test/slow"
        let manifest = Self.remote([slow, "https://example.test/p"])
        let problems = Mutex<[String]>([])
        let origin = TestOrigin(
            [TestOrigin.address: manifest, "https://example.test/p": Self.remotePeriod, slow: Self.remotePeriod],
            slowAddress: slow
        ) { options in
            options.reportProblem = { problem in problems.withLock { $0.append(problem) } }
        }
        async let playlist = origin.multivariant()
        // The load and its time limit wait for the clock.
        while origin.clock.sleeperCount < 2 { await Task.yield() }
        origin.clock.advance(by: .seconds(10))
        _ = try await playlist
        #expect(origin.clock.now == .seconds(10) && origin.clock.sleeperCount == 0)
        #expect(origin.transport.requestedAddresses == [TestOrigin.address, "https://example.test/p"])
        #expect(problems.withLock { $0 } == ["1 remote elements are missing, \(slow) first: the time for them is over"])
        #expect(try await origin.media(Self.media).segments.count == 7)
    }

    // MARK: Patches

    private static func patchable(_ location: String = #"<PatchLocation ttl="60">patch?t=1</PatchLocation>"#) -> String
    {
        TestOrigin.liveManifest(
            location,
            attributes: #"id="m" publishTime="2024-01-01T00:10:00Z" minimumUpdatePeriod="PT8S""#
        )
    }

    private static func patch(_ operations: String, id: String = "m") -> String {
        """
        <Patch xmlns="urn:mpeg:dash:schema:mpd-patch:2020" mpdId="\(id)" originalPublishTime="2024-01-01T00:10:00Z"
          publishTime="2024-01-01T00:10:08Z">\(operations)</Patch>
        """
    }

    private static let end =
        #"<replace sel="/MPD/@publishTime">2024-01-01T00:10:08Z</replace>"#
        + #"<add sel="/MPD" type="@mediaPresentationDuration">PT608S</add>"#
        + #"<remove sel="/MPD/@minimumUpdatePeriod"/>"#

    @Test func patchIsAppliedInsteadOfLoadingTheManifest() async throws {
        let origin = TestOrigin([TestOrigin.address: Self.patchable(), Self.patchURL: Self.patch(Self.end)])
        _ = try await origin.multivariant()
        origin.clock.advance(by: .seconds(8))
        let playlist = try await origin.media(Self.media)
        #expect(playlist.hasEndMarker && playlist.segments.last?.sequence == 151)
        #expect(playlist.segments.last?.address.text.hasPrefix("https://example.test/a/v1/") == true)
        #expect(origin.transport.requestedAddresses == [TestOrigin.address, Self.patchURL])
    }

    @Test func patchIsAppliedForTheMultivariantPlaylistToo() async throws {
        let origin = TestOrigin([TestOrigin.address: Self.patchable(), Self.patchURL: Self.patch(Self.end)])
        _ = try await origin.multivariant()
        origin.clock.advance(by: .seconds(8))
        _ = try await origin.multivariant()
        #expect(origin.transport.requestedAddresses == [TestOrigin.address, Self.patchURL])
    }

    @Test(arguments: [
        patch(end, id: "other"), patch(#"<remove sel="/MPD/Period[9]"/>"#), "no XML", "<MPD/>",
        patch(#"<replace sel="/MPD"><Other/></replace>"#), patch(#"<add sel="/MPD" type="@profiles">a</add>"#),
    ])
    func completeManifestIsLoadedIfThePatchCannotBeApplied(_ patch: String) async throws {
        let origin = TestOrigin([TestOrigin.address: Self.patchable(), Self.patchURL: patch])
        _ = try await origin.multivariant()
        origin.clock.advance(by: .seconds(8))
        #expect(try await origin.media(Self.media).segments.last?.sequence == 151)
        #expect(origin.transport.requestedAddresses == [TestOrigin.address, Self.patchURL, TestOrigin.address])
    }

    @Test func completeManifestIsLoadedIfThePatchIsMissing() async throws {
        let origin = TestOrigin([TestOrigin.address: Self.patchable()])
        _ = try await origin.multivariant()
        origin.clock.advance(by: .seconds(8))
        #expect(try await origin.media(Self.media).segments.last?.sequence == 151)
        #expect(origin.transport.requestedAddresses == [TestOrigin.address, Self.patchURL, TestOrigin.address])
    }

    @Test(arguments: [
        #"<PatchLocation ttl="4">patch?t=1</PatchLocation>"#, "<PatchLocation>file:///etc/passwd</PatchLocation>",
    ])
    func patchThatHasExpiredOrIsAFileIsNotLoaded(_ location: String) async throws {
        let origin = TestOrigin([TestOrigin.address: Self.patchable(location)])
        _ = try await origin.multivariant()
        origin.clock.advance(by: .seconds(8))
        _ = try await origin.media(Self.media)
        #expect(origin.transport.requestedAddresses == [TestOrigin.address, TestOrigin.address])
    }
}
