import HLSPlaylist
import MediaTiming
import PlaybackReporting
import Testing

@testable import StreamingEngine

/// Tests of the loads of the steering manifest and of the pathways that are used (RFC 8216bis §7).
@Suite struct ContentSteeringTests {
    /// The resources whose load began after a verb of the transcript, each with its time.
    private func begun(_ verb: String, in session: EngineSession) -> [String] {
        var time = ""
        return session.lines.compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            guard line.hasPrefix("    ") else {
                time = words.first ?? ""
                return nil
            }
            return words.count > 2 && words[0] == verb ? "\(time) \(words[2])" : nil
        }
    }

    private func reports(_ prefix: String, in session: EngineSession) -> [String] {
        session.lines.compactMap { line in
            let start = "    report \(prefix)"
            return line.hasPrefix(start) ? String(line.dropFirst("    report ".count)) : nil
        }
    }

    /// Returns the pathways from which a track is fetched after a time, in seconds.
    private func pathways(_ name: String, after time: Double, in session: EngineSession) -> Set<String> {
        Set(
            begun("fetch", in: session).compactMap { line in
                let words = line.split(separator: " ")
                guard let began = Double(words[0]), began > time, words[1].hasPrefix(name) else { return nil }
                return words[1].split(separator: "-").dropLast().last.map(String.init)
            }
        )
    }

    // MARK: Requests

    @Test func theManifestIsLoadedAtOnceWithThePathway() {
        var session = EngineSession()
        session.playSteered([EngineSession.manifest(["one"])], until: 3)
        #expect(begun("steer", in: session) == ["1 steer.json?session=7&_HLS_pathway=%22one%22"])
        #expect(session.state.nextDeadline != nil)
    }

    @Test func theThroughputIsSentOnceItIsKnown() {
        var session = EngineSession()
        session.playSteered([EngineSession.manifest(["one"], ttl: 10)], until: 13)
        let requests = begun("steer", in: session)
        #expect(requests.count == 2)
        #expect(requests.last?.hasPrefix("12 steer.json?session=7&_HLS_pathway=%22one%22&_HLS_throughput=") == true)
    }

    @Test func theInitialEstimateIsSent() {
        var options = StreamingOptions()
        options.initialThroughput = BitRate(bitsPerSecond: 4_000_000)
        var session = EngineSession(options)
        session.playSteered([EngineSession.manifest(["one"])], until: 3)
        let expected = "1 steer.json?session=7&_HLS_pathway=%22one%22&_HLS_throughput=4000000"
        #expect(begun("steer", in: session) == [expected])
    }

    @Test func aDataURLHasNoParameters() {
        let server = "data:application/json,x"
        var session = EngineSession()
        session.playlists[server] = [EngineSession.manifest(["two"], "\"RELOAD-URI\":\"\(EngineSession.root)r.json\"")]
        session.playSteered([], EngineSession.steered(server: server), until: 6)
        #expect(begun("steer", in: session) == ["1 \(server)"])
        #expect(reports("pathway", in: session).map { $0.prefix(18) } == ["pathway one -> two"])
    }

    @Test(arguments: ["file:///steer.json", "ftp://steer.example/a"])
    func otherURLsAreNotLoaded(server: String) {
        var session = EngineSession()
        session.playSteered([], EngineSession.steered(server: server), until: 6)
        #expect(begun("steer", in: session).isEmpty)
    }

    @Test func theReloadURIIsUsedAfterTheTimeToLive() {
        var session = EngineSession()
        let members = "\"RELOAD-URI\":\"sub/next.json?token=1\""
        session.playlists["sub/next.json"] = [EngineSession.manifest(["two"], ttl: 20)]
        session.playSteered([EngineSession.manifest(["one"], ttl: 6, members)], until: 32)
        let requests = begun("steer", in: session)
        #expect(requests.count == 3)
        #expect(requests.dropFirst().allSatisfy { $0.contains("sub/next.json?token=1&_HLS_pathway=") })
        #expect(requests.last?.contains("_HLS_pathway=%22two%22") == true)
        #expect(requests.map { $0.prefix { $0 != " " } } == ["1", "8", "29"])
    }

    @Test func noManifestIsLoadedWhilePlaybackIsPaused() {
        var session = EngineSession()
        session.playSteered([EngineSession.manifest(["one"], ttl: 10)], until: 5)
        session.setRate(0)
        session.run(until: 60)
        #expect(begun("steer", in: session).count == 1)
        session.setRate(1)
        session.run(until: 61)
        #expect(begun("steer", in: session).count == 2)
    }

    // MARK: Failures

    @Test func theStatusGoneEndsSteering() {
        var session = EngineSession()
        session.outcomes["steer.json"] = [.loaded, .status(410)]
        session.playSteered([EngineSession.manifest(["two"], ttl: 5)], until: 115)
        #expect(begun("steer", in: session).count == 2)
        // The pathway of the last manifest remains.
        #expect(pathways("high", after: 10, in: session) == ["two"])
    }

    @Test(arguments: [
        (EngineSession.Outcome.status(429, retryAfter: 40), 42.0), (.status(429), 302),
        (.status(503, retryAfter: 1), 302),
        (.unreachable, 302),
    ])
    func theManifestIsLoadedAgainAfterAFailure(outcome: EngineSession.Outcome, time: Double) {
        var session = EngineSession()
        session.recordsLines = true
        session.outcomes["steer.json"] = [outcome, .loaded]
        session.playSteered([EngineSession.manifest(["one"], ttl: 600)], segments: 70, until: 310)
        let times = begun("steer", in: session).compactMap { Double($0.prefix { $0 != " " }) }
        #expect(times == [1, time])
        #expect(session.state.failure == nil)
        #expect(reports("error", in: session).count == 1)
    }

    @Test func anUnreadableManifestIsReportedAndLoadedAgain() {
        var session = EngineSession()
        session.playSteered(
            [EngineSession.manifest(["one"], ttl: 5), "[", EngineSession.manifest(["two"], ttl: 60)],
            until: 40
        )
        #expect(begun("steer", in: session).count == 3)
        #expect(reports("error", in: session).count == 1)
        #expect(reports("error", in: session).first?.contains("recovered: the steering manifest") == true)
        #expect(pathways("high", after: 25, in: session) == ["two"])
    }

    // MARK: Pathways

    @Test func audioFollowsThePathwayOfTheVariant() {
        var session = EngineSession()
        session.transferTimes["steer"] = 4
        session.playSteered([EngineSession.manifest(["two", "one"])], until: 30)
        for name in ["high", "en"] {
            #expect(pathways(name, after: 8, in: session) == ["two"], "\(name)")
        }
        #expect(reports("pathway", in: session).count == 1)
        #expect(begun("cancel", in: session).isEmpty && !session.lines.contains { $0.hasPrefix("    cancel") })
        #expect(session.state.control.plan.fetchedVariant?.stableID == "high")
        // Each segment is fetched once.
        let numbers = begun("fetch", in: session).filter { $0.contains("en-") }.map { $0.split(separator: "-").last }
        #expect(Set(numbers).count == numbers.count)
    }

    @Test func unknownPathwaysAreIgnored() {
        var session = EngineSession()
        session.playSteered([EngineSession.manifest(["three", "four"])], until: 20)
        #expect(pathways("high", after: 0, in: session) == ["one"])
        #expect(reports("pathway", in: session).isEmpty)
    }

    @Test func theVariantsAreThoseOfThePathway() {
        var session = EngineSession()
        let text = EngineSession.steered().replacing(
            /#EXT-X-STREAM-INF:BANDWIDTH=3000000[^\n]*"two"\nhigh-two.m3u8\n/,
            with: ""
        )
        session.playSteered(
            [EngineSession.manifest(["one"], ttl: 5), EngineSession.manifest(["two"])],
            text,
            until: 30
        )
        #expect(pathways("high", after: 0, in: session) == ["one"])
        #expect(pathways("high", after: 12, in: session).isEmpty)
        #expect(pathways("low", after: 12, in: session) == ["two"])
    }

    @Test func aPathwayThatFailsIsUsedAgainAfterTwoMinutes() {
        var session = EngineSession()
        for name in ["low", "high"] { session.outcomes["\(name)-two-5.ts"] = [.status(404)] }
        session.playSteered([EngineSession.manifest(["two", "one"])], segments: 60, until: 250)
        #expect(session.state.failure == nil)
        #expect(
            reports("pathway", in: session).map { $0.prefix(18) }.suffix(2) == [
                "pathway two -> one", "pathway one -> two",
            ]
        )
        #expect(reports("pathway", in: session).count == 3)
        let failed = begun("fetch", in: session).first { $0.hasSuffix("-two-5.ts") }
        let time = failed.flatMap { Double($0.prefix { $0 != " " }) } ?? 0
        #expect(pathways("high", after: time + 1, in: session) == ["one", "two"])
        let returned = begun("fetch", in: session).first { line in
            let began = Double(line.prefix { $0 != " " }) ?? 0
            return began > time && line.contains("high-two-")
        }
        #expect(Double(returned?.prefix { $0 != " " } ?? "") ?? 0 >= time + 120)
        #expect(pathways("en", after: 200, in: session) == ["two"])
    }

    @Test func aPathwayWhosePlaylistFailsIsReplaced() {
        var session = EngineSession()
        for name in ["low", "high", "en"] { session.outcomes["\(name)-two.m3u8"] = [.status(404)] }
        session.playSteered([EngineSession.manifest(["two", "one"])], until: 100)
        #expect(session.state.failure == nil)
        #expect(pathways("high", after: 5, in: session) == ["one"])
        #expect(begun("load", in: session).count { $0.hasSuffix("-two.m3u8") && !$0.contains("en-") } == 1)
    }

    @Test func aLiveStreamContinuesOnTheOtherPathway() {
        var session = EngineSession()
        for pathway in ["one", "two"] {
            for name in ["low", "high", "en"] {
                let prefix = "\(name)-\(pathway)-"
                session.playlists["\(name)-\(pathway).m3u8"] = (0..<40).map {
                    EngineSession.live(prefix, $0, dated: true)
                }
                session.transferTimes[prefix] = 0.5
            }
        }
        session.transferTimes["steer"] = 15
        session.playSteered([EngineSession.manifest(["two", "one"])], until: 60)
        #expect(session.state.failure == nil)
        #expect(reports("pathway", in: session).count == 1)
        for name in ["high", "en"] { #expect(pathways(name, after: 25, in: session) == ["two"], "\(name)") }
    }

    @Test func trickPlayUsesThePathway() {
        var text = EngineSession.steered()
        for pathway in ["one", "two"] {
            text += "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,RESOLUTION=640x360,CODECS=\"avc1.4d401e\","
            text += "PATHWAY-ID=\"\(pathway)\",URI=\"frames-\(pathway).m3u8\"\n"
        }
        var session = EngineSession()
        session.observation.abilities.fullPresentationRates = -2...2
        for pathway in ["one", "two"] {
            session.playlists["frames-\(pathway).m3u8"] = [
                EngineSession.vod("frames-\(pathway)-", 20).replacing(
                    "#EXTM3U\n",
                    with: "#EXTM3U\n#EXT-X-I-FRAMES-ONLY\n"
                )
            ]
        }
        session.playSteered([EngineSession.manifest(["two", "one"])], text, until: 10)
        session.setRate(8)
        session.run(until: 13)
        #expect(
            begun("load", in: session).filter { $0.contains("frames") }.map { $0.split(separator: " ")[1] } == [
                "frames-two.m3u8"
            ]
        )
    }

    // MARK: Clones

    private func clone(_ base: String, _ id: String, _ replacement: String) -> String {
        "{\"BASE-ID\":\"\(base)\",\"ID\":\"\(id)\",\"URI-REPLACEMENT\":{\(replacement)}}"
    }

    @Test func aCloneReplacesTheURLsOfItsBase() {
        var session = EngineSession()
        let root = "https://cdn.example/"
        for name in ["low", "en"] {
            session.playlists["\(root)\(name)-one.m3u8"] = [EngineSession.vod("\(name)-cdn-", 20)]
        }
        session.playlists["https://fast.example/high.m3u8"] = [EngineSession.vod("high-fast-", 20)]
        let replacement = """
            "HOST":"cdn.example","PARAMS":{"token":"a b"},"PER-VARIANT-URIS":{"high":"https://fast.example/high.m3u8"}
            """
        let members = "\"PATHWAY-CLONES\":[\(clone("one", "cdn", replacement))]"
        session.playSteered([EngineSession.manifest(["cdn", "one"], members)], until: 30)
        let loads = Set(begun("load", in: session).compactMap { $0.split(separator: " ").last })
        #expect(loads.contains("https://fast.example/high.m3u8"))
        #expect(loads.contains("https://cdn.example/en-one.m3u8?token=a%20b"))
        #expect(pathways("https://fast.example/high", after: 10, in: session) == ["fast"])
        #expect(reports("pathway", in: session).map { $0.prefix(18) } == ["pathway one -> cdn"])
        #expect(session.state.failure == nil)
    }

    @Test func aCloneOfACloneReplacesTheURLsOfRenditions() {
        var session = EngineSession()
        for name in ["low", "high"] {
            session.playlists["https://b.example/\(name)-one.m3u8"] = [EngineSession.vod("\(name)-b-", 20)]
        }
        session.playlists["https://audio.example/en.m3u8"] = [EngineSession.vod("en-audio-", 20)]
        let clones = [
            clone("one", "a", "\"HOST\":\"a.example\""),
            clone("a", "b", "\"HOST\":\"b.example\",\"PER-RENDITION-URIS\":{\"english\":\"//audio.example/en.m3u8\"}"),
            // Neither its base nor its identifier is new.
            clone("one", "a", "\"HOST\":\"ignored.example\""), clone("nowhere", "c", ""),
        ]
        let members = "\"PATHWAY-CLONES\":[\(clones.joined(separator: ","))]"
        session.playSteered([EngineSession.manifest(["c", "b", "one"], members)], until: 30)
        let loads = begun("load", in: session).compactMap { $0.split(separator: " ").last }
        #expect(loads.contains("https://audio.example/en.m3u8"))
        #expect(loads.contains { $0.hasPrefix("https://b.example/") })
        #expect(!loads.contains { $0.contains("ignored") || $0.contains("a.example/low") })
        #expect(reports("pathway", in: session).map { $0.prefix(16) } == ["pathway one -> b"])
    }

    @Test func clonesHaveTheRenewedAddresses() {
        var session = EngineSession()
        session.playlists["main.m3u8"] = [1, 2].map { version in
            EngineSession.steered(["one"]).replacing(".m3u8\n", with: ".m3u8?v=\(version)\n")
                .replacing(".m3u8\"", with: ".m3u8?v=\(version)\"")
        }
        for name in ["low", "high", "en"] {
            session.playlists["https://cdn.example/\(name)-one.m3u8"] = [
                EngineSession.vod("\(name)-1-", 20), EngineSession.vod("\(name)-2-", 20),
            ]
            for number in 6..<20 { session.outcomes["https://cdn.example/\(name)-1-\(number).ts"] = [.status(403)] }
        }
        let text = session.playlists["main.m3u8"] ?? []
        let members = "\"PATHWAY-CLONES\":[\(clone("one", "cdn", "\"HOST\":\"cdn.example\""))]"
        session.playlists["steer.json"] = [EngineSession.manifest(["cdn"], members)]
        session.playSteered([], text.first ?? "", pathways: ["one"], until: 3)
        session.playlists["main.m3u8"] = Array(text.dropFirst())
        session.run(until: 40)
        let loads = begun("load", in: session).compactMap { $0.split(separator: " ").last }
        #expect(loads.contains("https://cdn.example/high-one.m3u8?v=2"))
        #expect(loads.contains("https://cdn.example/en-one.m3u8?v=2"))
        #expect(session.state.failure == nil)
    }
}
