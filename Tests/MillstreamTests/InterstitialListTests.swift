import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import Millstream
@testable import StreamingEngine

/// Tests of the loads of asset lists, of their contents, and of the events that date ranges schedule.
@Suite struct InterstitialListTests {
    /// Returns the date ranges with the given attributes, in a playlist that begins on January 1, 2026 at 00:00:00 UTC.
    private static func ranges(_ attributes: [String]) throws -> [TimedDateRange] {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n"
            + attributes.map { "#EXT-X-DATERANGE:\($0)\n" }.joined()
            + (0..<10).map { "#EXTINF:6,\n\($0).ts\n" }.joined()
        let context = PlaylistContext(address: ResourceAddress("https://example.com/main.m3u8"))
        let playlist = try MediaPlaylist(parsing: Array(text.utf8), context: context)
        return TimedDateRange.ranges(of: PresentationTimeline(playlist))
    }

    /// Returns a date range that asks for a list to be loaded from 10 s to 18 s.
    private static func preload(
        _ id: String,
        _ list: String,
        target: String = "a",
        of type: String = "interstitial"
    )
        -> String
    {
        "ID=\"\(id)\",CLASS=\"com.apple.hls.preload\",START-DATE=\"2026-01-01T00:00:10Z\",DURATION=8,"
            + "X-URI=\"https://example.com/\(list)\",X-TARGET-ID=\"\(target)\",X-TARGET-CLASS=\"com.apple.hls.\(type)\""
    }

    private static func interstitial(_ second: Int, _ attributes: String = "X-ASSET-URI=\"a.m3u8\"") -> String {
        "ID=\"a\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-01-01T00:00:\(second)Z\",\(attributes)"
    }

    private static func requests(_ attributes: String..., fraction: Double = 0.5) throws -> AssetListRequests {
        var requests = AssetListRequests(preloadFraction: fraction)
        let removed = requests.update(try ranges(attributes), [])
        #expect(removed.isEmpty)
        return requests
    }

    private static func time(_ seconds: Double) -> MediaTime { MediaTime(approximating: seconds) ?? .zero }

    private static let list = ResourceAddress("https://example.com/list.json")

    // MARK: Loading in advance

    @Test func aListIsLoadedOnceWithinTheTimeThatTheStreamAllows() throws {
        var requests = try Self.requests(Self.preload("p", "list.json"), Self.interstitial(50))
        #expect(requests.nextPreload(after: .zero) == nil)
        #expect(requests.duePreloads(at: .zero) == [])
        #expect(requests.nextPreload(after: .zero) == Self.time(14))
        #expect(requests.nextPreload(after: Self.time(14)) == nil)
        #expect(requests.duePreloads(at: Self.time(13.9)) == [])
        #expect(requests.duePreloads(at: Self.time(14)) == [Self.list])
        requests.begin(Self.list, request: 1)
        #expect(requests.duePreloads(at: Self.time(15)) == [])
    }

    @Test(arguments: [(0.0, 10.0), (0.25, 12), (1, 18)])
    func theTimeOfTheLoadDependsOnTheViewer(fraction: Double, time: Double) throws {
        var requests = try Self.requests(Self.preload("p", "list.json"), Self.interstitial(50), fraction: fraction)
        _ = requests.duePreloads(at: .zero)
        #expect(requests.nextPreload(after: .zero) == Self.time(time))
        // The time that was chosen does not change with a reload of the playlist.
        _ = requests.duePreloads(at: Self.time(11))
        let ranges = try Self.ranges([Self.preload("p", "list.json"), Self.interstitial(50)])
        #expect(requests.update(ranges, []) == [])
        #expect(requests.nextPreload(after: .zero) == Self.time(time))
    }

    /// An interstitial is prepared five seconds before it at the latest.
    @Test(arguments: [(15, 10.0), (20, 12.5), (30, 14)])
    func theLoadBeginsBeforeTheInterstitialIsPrepared(target: Int, time: Double) throws {
        var requests = try Self.requests(Self.preload("p", "list.json"), Self.interstitial(target))
        _ = requests.duePreloads(at: .zero)
        #expect(requests.nextPreload(after: .zero) == Self.time(time))
    }

    @Test(arguments: [(50, 18.9, true), (50, 19, false), (15, 14.9, true), (15, 15, false)])
    func aListIsNotLoadedAfterItsTimeOrItsInterstitial(target: Int, position: Double, isDue: Bool) throws {
        var requests = try Self.requests(Self.preload("p", "list.json"), Self.interstitial(target))
        #expect(requests.duePreloads(at: Self.time(position)) == (isDue ? [Self.list] : []))
    }

    @Test func theNextLoadIsTheFirstOneAhead() throws {
        let later = Self.preload("q", "other.json").replacing("00:00:10Z", with: "00:00:30Z")
        var requests = try Self.requests(later, Self.preload("p", "list.json"), Self.interstitial(50))
        #expect(requests.duePreloads(at: .zero) == [])
        #expect(requests.nextPreload(after: .zero) == Self.time(14))
        #expect(requests.nextPreload(after: Self.time(14)) == Self.time(34))
        #expect(requests.nextPreload(after: Self.time(34)) == nil)
    }

    @Test func onlyListsOfInterstitialsAreLoadedInAdvance() throws {
        var other = try Self.requests(Self.preload("p", "list.json", of: "preload"), Self.interstitial(50))
        #expect(other.duePreloads(at: Self.time(18)) == [])
        // The interstitial may follow with a later version of the playlist.
        var unknown = try Self.requests(Self.preload("p", "list.json", target: "x"))
        #expect(unknown.duePreloads(at: Self.time(18)) == [Self.list])
    }

    @Test func eightListsAreLoadedInAdvanceEachOnce() throws {
        let names = (0..<10).map { "list\($0).json" }
        var requests = AssetListRequests(preloadFraction: 0)
        let preloads = names.flatMap { [$0, $0] }.enumerated().map { Self.preload("p\($0)", $1) }
        _ = requests.update(try Self.ranges(preloads), [])
        let due = requests.duePreloads(at: Self.time(10))
        #expect(due.map(\.text) == names.prefix(8).map { "https://example.com/\($0)" })
        for (number, address) in due.prefix(7).enumerated() { requests.begin(address, request: number) }
        #expect(requests.duePreloads(at: Self.time(11)).count == 1)
    }

    // MARK: Requests

    @Test func aResponseBelongsToTheRequestThatIsAwaited() throws {
        let other = ResourceAddress("https://example.com/other.json")
        var requests = AssetListRequests(preloadFraction: 0)
        requests.begin(Self.list, request: 7)
        requests.begin(other, request: 3)
        #expect(requests.requests == [3, 7])
        let failure = Result<InterstitialAssetList, PlayerError>.failure(PlayerError(.notLoaded, "no list"))
        #expect(requests.finish(request: 4, failure) == nil)
        #expect(requests.finish(request: 7, failure) == Self.list && requests.requests == [3])
        #expect(requests.finish(request: 7, failure) == nil)
        guard case .failed = requests[Self.list], case .loading(request: 3) = requests[other] else {
            Issue.record("the states are other ones")
            return
        }
        let loaded = try InterstitialAssetList(Array("{\"ASSETS\":[]}".utf8), at: other)
        #expect(requests.finish(request: 3, .success(loaded)) == other && requests.requests.isEmpty)
        guard case .loaded(let list) = requests.remove(other) else {
            Issue.record("the list is not loaded")
            return
        }
        #expect(list == loaded && requests[other] == nil)
    }

    @Test func requestsThatNothingRefersToAreCanceled() throws {
        var event = InterstitialEvent(id: "a", at: .zero, .list(Self.list))
        var requests = AssetListRequests(preloadFraction: 0)
        requests.begin(Self.list, request: 7)
        #expect(requests.update([], [event]) == [])
        #expect(requests.update(try Self.ranges([Self.preload("p", "list.json")]), []) == [])
        event.content = .address(Self.list)
        #expect(requests.update([], [event]) == [7] && requests[Self.list] == nil)
    }

    // MARK: Contents

    @Test func aHundredAssetsWithAddressesArePlayed() throws {
        let assets = (0..<102).map { "{\"URI\":\"\($0 == 1 ? "" : "\($0).m3u8")\",\"DURATION\":\($0)}" }
        let json = "{\"ASSETS\":[{},\(assets.joined(separator: ","))]}"
        let list = try InterstitialAssetList(Array(json.utf8), at: Self.list)
        // The first one has no address, and the address of the third one is empty.
        #expect(list.entries.count == 98 && list.entries.first?.duration == .zero)
        #expect(list.entries.first?.address.text == "https://example.com/0.m3u8")
        #expect(list.entries.last?.address.text == "https://example.com/98.m3u8")
        #expect(list.skipControl == nil)
    }

    @Test func negativeTimesAreIgnored() throws {
        let json = """
            {"ASSETS":[{"URI":"a","DURATION":-1},{"URI":"b","DURATION":1.5}],"SKIP-CONTROL":{"OFFSET":-1,"DURATION":2}}
            """
        let list = try InterstitialAssetList(Array(json.utf8), at: Self.list)
        #expect(list.entries.map(\.duration) == [nil, Self.time(1.5)])
        #expect(list.skipControl == InterstitialAssetList.Skip(offset: nil, duration: Self.time(2), labelID: nil))
        let assets = try AssetListParser.assets(Array(json.utf8), at: Self.list)
        #expect(assets.map(\.address.text) == ["https://example.com/a", "https://example.com/b"])
    }

    @Test func theSkipControlOfAListReplacesThatOfTheEvent() {
        var event = InterstitialEvent(id: "a", at: .zero, .list(Self.list))
        event.apply(nil)
        event.apply(InterstitialAssetList.Skip(offset: nil, duration: Self.time(2), labelID: "x"))
        #expect(event.skipControl == nil)
        event.apply(InterstitialAssetList.Skip(offset: Self.time(3), duration: nil, labelID: nil))
        #expect(event.skipControl == InterstitialEvent.SkipControl(offset: Self.time(3)))
        event.apply(InterstitialAssetList.Skip(offset: nil, duration: Self.time(2), labelID: "x"))
        #expect(
            event.skipControl
                == InterstitialEvent.SkipControl(offset: Self.time(3), duration: Self.time(2), labelID: "x")
        )
        event.apply(InterstitialAssetList.Skip(offset: Self.time(4), duration: nil, labelID: nil))
        #expect(
            event.skipControl
                == InterstitialEvent.SkipControl(offset: Self.time(4), duration: Self.time(2), labelID: "x")
        )
    }

    // MARK: Events

    private func event(_ attributes: String) throws -> InterstitialEvent {
        let range = try #require(try Self.ranges([Self.interstitial(20, attributes)]).first)
        return try #require(InterstitialEvent(range))
    }

    private static let asset = "X-ASSET-URI=\"a.m3u8\""

    @Test func anEventHasTheAttributesOfItsDateRange() throws {
        let event = try event(
            "\(Self.asset),X-RESTRICT=\"JUMP,SKIP\",X-RESUME-OFFSET=-2,X-PLAYOUT-LIMIT=5,X-SNAP=\"OUT,IN\",CUE=\"ONCE\","
                + "X-TIMELINE-OCCUPIES=\"RANGE\",X-TIMELINE-STYLE=\"PRIMARY\",X-CONTENT-MAY-VARY=\"NO\","
                + "X-SKIP-CONTROL-OFFSET=3,X-SKIP-CONTROL-DURATION=4,X-SKIP-CONTROL-LABEL-ID=\"l\",X-COM-A=\"1\""
        )
        #expect(event.id == "a" && event.time == Self.time(20) && event.cue == .none && event.willPlayOnce)
        #expect(event.restrictions.contains(.constrainsSeekingForwardInPrimaryContent) && event.forbidsAdvancing)
        #expect(event.resumptionOffset == Self.time(-2) && event.playoutLimit == Self.time(5))
        #expect(event.alignsStartWithPrimarySegmentBoundary && event.alignsResumptionWithPrimarySegmentBoundary)
        #expect(event.timelineOccupancy == .fill && event.supplementsPrimaryContent && !event.contentMayVary)
        #expect(
            event.skipControl
                == InterstitialEvent.SkipControl(offset: Self.time(3), duration: Self.time(4), labelID: "l")
        )
        #expect(event.userDefinedAttributes == ["X-COM-A": "1"])
        #expect(event.plannedReplacedDuration == .zero)
    }

    @Test func anEventWithoutOptionalAttributesHasTheDefaults() throws {
        let event = try event("X-ASSET-LIST=\"https://example.com/list.json\",X-PLAYOUT-LIMIT=-1")
        #expect(event.content == .list(Self.list) && event.playoutLimit == nil && event.restrictions.isEmpty)
        #expect(!event.alignsStartWithPrimarySegmentBoundary && !event.alignsResumptionWithPrimarySegmentBoundary)
        #expect(event.timelineOccupancy == .singlePoint && !event.supplementsPrimaryContent && event.contentMayVary)
        #expect(!event.willPlayOnce && !event.forbidsAdvancing && event.skipControl == nil)
        #expect(event.userDefinedAttributes.isEmpty && event.plannedDuration == nil)
        #expect(event.plannedReplacedDuration == .zero)
    }

    @Test(arguments: [
        ("PRE", InterstitialEvent.Cue.joinPrimary), ("POST", .leavePrimary), ("POST,PRE", .joinPrimary),
        ("ONCE", .none),
    ])
    func aCueTellsWhenTheEventIsPlayed(cue: String, expected: InterstitialEvent.Cue) throws {
        #expect(try event("\(Self.asset),CUE=\"\(cue)\"").cue == expected)
    }

    @Test(
        arguments: [
            ("DURATION=7,PLANNED-DURATION=9", 7), ("END-DATE=\"2026-01-01T00:00:28Z\",PLANNED-DURATION=9", 8),
            ("PLANNED-DURATION=9", 9), ("PLANNED-DURATION=9,X-PLAYOUT-LIMIT=4", 4), ("X-PLAYOUT-LIMIT=4", 4),
            ("PLANNED-DURATION=9,X-RESUME-OFFSET=3", 3), ("PLANNED-DURATION=9,X-PLAYOUT-LIMIT=40", 9),
        ] as [(String, Double)]
    )
    func anEventReplacesItsPlannedDuration(attributes: String, duration: Double) throws {
        #expect(try event("\(Self.asset),\(attributes)").plannedReplacedDuration == Self.time(duration))
    }

    @Test func theAddressOfAnAssetIsPreferredToThatOfAList() throws {
        let both = try event("\(Self.asset),X-ASSET-LIST=\"list.json\"")
        #expect(both.content == .address(ResourceAddress("https://example.com/a.m3u8")))
        let none = try Self.ranges([Self.interstitial(20, "X-COM-A=\"1\"")])
        #expect(none.count == 1 && none.compactMap { InterstitialEvent($0) }.isEmpty)
    }

    @Test(arguments: [
        ("https://a.example/x", "https://a.example/x?b=c%20d&e=1"),
        ("https://a.example/x?y#z", "https://a.example/x?y&b=c%20d&e=1#z"),
        ("https://a.example/x?b=2#?e=3", "https://a.example/x?b=2&e=1#?e=3"),
        ("https://a.example/x?bb=2&e=", "https://a.example/x?bb=2&e=&b=c%20d"),
    ])
    func parametersForServersDoNotReplaceOthers(address: String, expected: String) {
        #expect(ResourceAddress(address).adding([("b", "c d"), ("e", "1")]).text == expected)
    }

    // MARK: Playout

    @Test func theSkipControlIsShownForItsDuration() {
        func skippability(
            _ seconds: Double,
            _ control: InterstitialEvent.SkipControl?
        ) -> InterstitialController.Skippability {
            let event = InterstitialEvent(id: "a", at: .zero, .assets([]))
            return InterstitialPlayout(event, skipControl: control, []).skippability(at: Self.time(seconds))
        }
        let control = InterstitialEvent.SkipControl(offset: Self.time(5), duration: Self.time(4))
        let states = [4.99, 5, 8.99, 9].map { skippability($0, control) }
        #expect(states == [.notYetEligible, .eligible, .eligible, .noLongerEligible])
        #expect(
            skippability(99, InterstitialEvent.SkipControl(offset: Self.time(5))) == .eligible
                && skippability(5, nil) == .notSkippable
        )
    }

    @Test func theRateOfARestrictedInterstitialIsNormalAtMost() {
        for (rate, free, restricted) in [(2.0, 2.0, 1.0), (0.5, 0.5, 0.5), (-1, 0, 0), (0, 0, 0)] {
            var event = InterstitialEvent(id: "a", at: .zero, .assets([]))
            var playout = InterstitialPlayout(event, skipControl: nil, [])
            #expect(playout.followRate(rate) == free && playout.followRate(rate) == nil)
            event.restrictions = .requiresPlaybackAtPreferredRateForAdvancement
            playout = InterstitialPlayout(event, skipControl: nil, [])
            #expect(playout.followRate(rate) == restricted)
        }
    }
}
