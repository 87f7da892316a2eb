import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

/// Tests the effects of an asset's options.
@Suite struct AssetOptionsTests {
    @Test func assetFailsOnAnExpensiveNetworkThatItsOptionsForbid() async throws {
        var options = AssetOptions()
        options.allowsExpensiveNetworkAccess = false
        let broadcast = PlayedOrigin(PlayedOrigin.film())
        var environment = broadcast.environment
        let network = NetworkStatus(cost: .expensive)
        environment.network = network
        let address = ResourceAddress(PlayedOrigin.origin + "main.m3u8")
        let asset = Asset(address, options: options, environment: environment)
        let other = Asset(address, options: options, environment: environment)
        try await broadcast.run { world in
            let item = PlayerItem(asset: asset)
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.status == .failed }
            #expect(item.error?.message.contains("expensive") == true)
            #expect(world.transport.requestedAddresses.isEmpty)
            network.cost = []
            #expect(try await other.load(.isPlayable))
        }
    }

    @Test(arguments: [
        (["https://a.example.com/x.ts", "data:,x"], ReferenceRestrictions.forbidCrossSiteReference, true),
        (["https://elsewhere.org/x.ts", "https://a.example.net/x.ts"], .forbidCrossSiteReference, false),
        (["https://elsewhere.org/x.ts"], .forbidLocalReferenceToRemote, true),
        (["https://www.example.com/x.ts"], .forbidAll, false),
    ])
    func referencesOfARemoteAssetAreRestricted(
        addresses: [String],
        restrictions: ReferenceRestrictions,
        isAllowed: Bool
    ) async {
        await expect(addresses, from: "https://www.example.com/main.m3u8", restrictions, isAllowed)
    }

    @Test(arguments: [
        (["file:///films/x.ts"], ReferenceRestrictions.forbidLocalReferenceToLocal, false),
        (["file:///films/x.ts"], .forbidLocalReferenceToRemote, true),
        (["https://www.example.com/x.ts"], .forbidLocalReferenceToRemote, false),
        (["https://www.example.com/x.ts"], .forbidLocalReferenceToLocal, true),
        // The address of the asset itself is not a reference.
        (["file:///films/main.m3u8"], .forbidAll, true),
    ])
    func referencesOfALocalAssetAreRestricted(
        addresses: [String],
        restrictions: ReferenceRestrictions,
        isAllowed: Bool
    ) async {
        await expect(addresses, from: "file:///films/main.m3u8", restrictions, isAllowed)
    }

    private func expect(
        _ addresses: [String],
        from asset: String,
        _ restrictions: ReferenceRestrictions,
        _ isAllowed: Bool
    ) async {
        var options = AssetOptions()
        options.referenceRestrictions = restrictions
        let base = ScriptedTransport(texts: Dictionary(addresses.map { ($0, "bytes") }) { first, _ in first })
        let loading = options.restricting(ResourceLoader(base), of: ResourceAddress(asset), network: NetworkStatus())
        for address in addresses {
            do {
                _ = try await loading.transport.send(TransportRequest(ResourceAddress(address), kind: .segment))
                #expect(isAllowed, "\(address)")
            } catch {
                #expect(!isAllowed, "\(address): \(error)")
                #expect((error as? TransportError)?.code == .addressRefused)
            }
        }
    }

    @Test func redirectToAnotherSiteIsACrossSiteReference() async throws {
        var options = AssetOptions()
        options.referenceRestrictions = .forbidCrossSiteReference
        let address = ResourceAddress("https://www.example.com/main.m3u8")
        let elsewhere = ScriptedTransport([
            "https://www.example.com/a.ts": [.redirected(to: ResourceAddress("https://elsewhere.org/a.ts"), [1, 2])]
        ])
        let loading = options.restricting(ResourceLoader(elsewhere), of: address, network: NetworkStatus())
        let request = TransportRequest(ResourceAddress("https://www.example.com/a.ts"), kind: .segment)
        let error = await #expect(throws: TransportError.self) { try await loading.transport.send(request) }
        #expect(error?.code == .addressRefused && error?.address?.host == "elsewhere.org")
    }

    @Test func overriddenPlaylistTypeIsNotProbedAsAMediaFile() async throws {
        let film = Array("ID3".utf8) + Array(repeating: 0, count: 80_000)
        try await PlayedOrigin([PlayedOrigin.origin + "main": String(decoding: film, as: UTF8.self)]).run { world in
            var options = AssetOptions()
            options.overrideMIMEType = "Application/vnd.apple.mpegURL; charset=utf-8"
            let item = world.item("main", options: options)
            let player = try Player(playerItem: item)
            await world.wait(for: item.states) { $0.status == .failed }
            #expect(item.error?.code == .unreadablePlaylist)
            _ = player
        }
    }

    @Test func overriddenMediaFileTypeIsNotProbedAsAPlaylist() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            var options = AssetOptions()
            options.overrideMIMEType = "video/mp4"
            let item = world.item(options: options)
            let player = try Player(playerItem: item)
            await world.wait(for: item.states) { $0.status == .failed }
            #expect(item.error?.code == .notRecognized)
            _ = player
        }
    }

    @Test func dateRangeUpdatesReportNewAndModifiedRanges() async throws {
        let time = PlayedOrigin.dated(
            [
                "#EXT-X-DATERANGE:ID=\"a\",CLASS=\"ad\",START-DATE=\"2026-01-01T00:00:00Z\",SCTE35-OUT=0xFC00",
                "#EXT-X-DATERANGE:ID=\"b\",CLASS=\"news\",START-DATE=\"2026-01-01T00:00:06Z\"",
            ],
            later: [
                "#EXT-X-DATERANGE:ID=\"a\",CLASS=\"ad\",START-DATE=\"2026-01-01T00:00:00Z\",SCTE35-OUT=0xFC00,DURATION=3",
                "#EXT-X-DATERANGE:ID=\"c\",CLASS=\"ad\",START-DATE=\"2026-01-01T00:00:06Z\",SCTE35-IN=0xFC00",
            ]
        )
        try await time.run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            var all = item.dateRangeUpdates().makeAsyncIterator()
            var advertisements = item.dateRangeUpdates(identifiers: ["SCTE35-OUT"], classes: ["ad"])
                .makeAsyncIterator()
            let first = await all.next()
            #expect(first?.ranges.map(\.id) == ["a", "b"] && first?.newIndices == [0, 1])
            let second = await all.next()
            #expect(second?.ranges.map(\.id) == ["a", "c"])
            #expect(second?.newIndices == [1] && second?.modifiedIndices == [0])
            // A late subscriber receives the present ranges as new ones.
            let late = await advertisements.next()
            #expect(late?.ranges.map(\.id) == ["a"] && late?.newIndices == [0])
            #expect(late?.ranges.first?.endDate == late?.ranges.first?.startDate.advanced(by: MediaTime(seconds: 3)))
            _ = player
        }
    }
}

extension PlayedOrigin {
    /// Returns a live stream whose date ranges change with its first reload.
    fileprivate static func dated(_ first: [String], later: [String]) -> PlayedOrigin {
        func media(_ tags: [String], count: Int) -> String {
            let segments = (0..<count).map { "#EXTINF:6,\nv\($0).ts\n" }.joined()
            return "#EXTM3U\n#EXT-X-TARGETDURATION:6\n" + tags.joined(separator: "\n")
                + "\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n" + segments
        }
        var responses: [String: [ScriptedTransport.Response]] = [
            origin + "main.m3u8": [.text(media(first, count: 4)), .text(media(later, count: 5))]
        ]
        for number in 0..<5 { responses[origin + "v\(number).ts"] = [.text("media")] }
        return PlayedOrigin(responses: responses)
    }
}
