import MediaTiming
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the numbers that limit a steering manifest.
@Suite struct SteeringSurvivorTests {
    private static func manifest(_ text: String) throws -> SteeringManifest {
        try SteeringManifest(parsing: Array(text.utf8), at: ResourceAddress("https://steer.example/steer.json"))
    }

    @Test(arguments: [(63, 63), (64, 64), (65, 64)]) func sixtyFourPathwaysAreRead(count: Int, expected: Int) throws {
        let pathways = (0..<count).map { "\"p\($0)\"" }.joined(separator: ",")
        // An empty identifier and one that occurs again do not count.
        let manifest = try Self.manifest("{\"VERSION\":1,\"PATHWAY-PRIORITY\":[\"\",\"p0\",\(pathways)]}")
        #expect(manifest.pathwayPriority == (0..<expected).map { "p\($0)" })
    }

    @Test(arguments: [(31, 31), (32, 32), (33, 32)]) func thirtyTwoClonesAreRead(count: Int, expected: Int) throws {
        let clones = (0..<count).map { "{\"BASE-ID\":\"a\",\"ID\":\"c\($0)\",\"URI-REPLACEMENT\":{}}" }
        let members = "\"PATHWAY-PRIORITY\":[\"a\"],\"PATHWAY-CLONES\":[\(clones.joined(separator: ","))]"
        let manifest = try Self.manifest("{\"VERSION\":1,\(members)}")
        #expect(manifest.clones.map(\.id) == (0..<expected).map { "c\($0)" })
    }

    @Test(arguments: [(4, 5), (5, 5), (6, 6), (86_399, 86_399), (86_400, 86_400), (86_401, 86_400)])
    func timeToLiveIsFiveSecondsToOneDay(written: Int, used: Int) throws {
        let manifest = try Self.manifest("{\"VERSION\":1,\"TTL\":\(written),\"PATHWAY-PRIORITY\":[\"a\"]}")
        #expect(manifest.timeToLive == .seconds(used))
    }

    @Test(arguments: [
        ("https://a/x?a&&b&", "https://a/x?a&&b&&t=1"), ("https://a/x?&t=0", "https://a/x?&t=1"),
        ("https://a/x?a=b=c", "https://a/x?a=b=c&t=1"), ("https://a/x?t", "https://a/x?t=1"),
        ("https://a/x?t=0&t=2", "https://a/x?t=1&t=2"), ("https://a/x?u", "https://a/x?u&t=1"),
    ])
    func otherPartsOfAQueryAreKept(address: String, expected: String) {
        #expect(ResourceAddress(address).setting([QueryParameter(name: "t", value: "1")]).text == expected)
    }

    @Test func limitsHaveTheirValues() {
        #expect(SteeringManifest.maximumSize == ByteCount(1_048_576) && PathwayClone.maximumParameterCount == 64)
        #expect(SteeringManifest.defaultTimeToLive == .seconds(300))
        #expect(ContentSteeringState.penaltyDuration == .seconds(120))
    }
}
