import Foundation
import MediaTiming
import NetworkConditioning
import SharedCorpus
import Testing

@Suite struct LinkProfileTests {
    private func decode(_ text: String) throws -> LinkProfile {
        try JSONDecoder().decode(LinkProfile.self, from: Data(text.utf8))
    }

    @Test func presetsAreFoundByName() throws {
        #expect(
            LinkProfile.presets.map(\.name) == [
                "100% Loss", "3G", "DSL", "EDGE", "High Latency DNS", "LTE", "Very Bad Network", "WiFi",
                "WiFi 802.11ac", "Off",
            ]
        )
        for preset in LinkProfile.presets { #expect(LinkProfile(preset: preset.name) == preset) }
        #expect(LinkProfile(preset: "very-bad-network")?.down.loss == 0.1)
        #expect(LinkProfile(preset: "wifi 802.11AC")?.up.bandwidth?.bitsPerSecond == 100_000_000)
        #expect(LinkProfile(preset: "edge")?.up.latency == .milliseconds(440))
        #expect(LinkProfile(preset: "") == nil && LinkProfile(preset: "5G") == nil)
        #expect(LinkProfile.presets.filter(\.isPerfect) == [.off])
    }

    @Test(arguments: LinkProfile.presets)
    func encodedProfilesRoundTrip(preset: LinkProfile) throws {
        var profile = preset
        profile.outages = [
            LinkProfile.Outage(start: .seconds(1), duration: .milliseconds(1_500), interval: .seconds(9))
        ]
        let text = String(decoding: try JSONEncoder().encode(profile), as: UTF8.self)
        #expect(try decode(text) == profile)
    }

    @Test func omittedValuesMeanUnlimitedLink() throws {
        let profile = try decode(#"{"down":{"bandwidth":780000,"latency":0.1},"dnsDelay":3}"#)
        #expect(profile.down.bandwidth?.bitsPerSecond == 780_000 && profile.down.latency == .milliseconds(100))
        #expect(profile.up == LinkProfile.DirectionConditions() && profile.dnsDelay == .seconds(3))
        #expect(try decode(#"{"outages":[{"start":1,"duration":2}]}"#).outages.count == 1)
    }

    @Test func jsonArrayIsATrace() throws {
        let text =
            #"[{"duration_ms":1013,"bandwidth_kbps":1285,"latency_ms":100},{"duration_ms":0.5,"bandwidth_kbps":0}]"#
        let trace = try #require(try decode(text).trace)
        #expect(trace.periods.count == 2 && trace.duration == .microseconds(1_013_500))
        #expect(trace.periods[0].bandwidth.bitsPerSecond == 1_285_000 && trace.periods[1].latency == .zero)
    }

    @Test(arguments: [
        (#"{}"#, "at least one of"), (#"{"name":"x"}"#, "at least one of"),
        (#"{"down":{"loss":1.5}}"#, "loss must be between 0 and 1"),
        (#"{"down":{"loss":-0.1}}"#, "loss"), (#"{"up":{"bandwidth":-1}}"#, "bandwidth must be"),
        (#"{"up":{"bandwidth":1e300}}"#, "bandwidth"),
        (#"{"down":{"latency":61}}"#, "latency must be between 0 and 60 s"),
        (#"{"dnsDelay":-1}"#, "dnsDelay"), ("[]", "at least one period"),
        (#"[{"duration_ms":1e30,"bandwidth_kbps":1}]"#, "duration_ms"),
        (
            #"[{"duration_ms":1,"bandwidth_kbps":-1}]"#,
            "bandwidth_kbps must be between 0 and 1000000000, not -1.0 in entry 0"
        ),
        (
            #"{"trace":[{"duration_ms":1,"bandwidth_kbps":1},{"duration_ms":1,"bandwidth_kbps":1e300}]}"#,
            "not 1e+300 in trace, entry 1"
        ),
        (
            #"[{"duration_ms":-1,"bandwidth_kbps":1}]"#,
            "duration_ms must be between 0 and 1000000000, not -1.0 in entry 0"
        ),
        (#"[{"duration_ms":0,"bandwidth_kbps":1}]"#, "greater than 0 in entry 0"),
        (
            #"[{"duration_ms":1,"bandwidth_kbps":1,"latency_ms":60001}]"#,
            "latency_ms must be between 0 and 60000, not 60001.0 in entry 0"
        ),
        (#"{"outages":[{"start":0,"duration":2,"interval":1}]}"#, "longer than its duration"),
        (#"{"down":{"bandwidht":5}}"#, "unknown key bandwidht in down"),
        (#"{"dwon":{}}"#, "unknown key dwon; the keys are name"),
        (#"{"outages":[{"start":0,"duration":2,"every":9}]}"#, "unknown key every in outages, entry 0"),
        (#"{"trace":null}"#, "at least one of"),
    ])
    func invalidValuesAreRejectedWithReason(text: String, reason: String) {
        let error = #expect(throws: LinkProfileError.self) { _ = try decode(text) }
        #expect(error?.description.contains(reason) == true)
    }

    /// Some editors write Windows line ends, and some simulators write blank lines and fields of their own.
    @Test func lineEndsAndUnknownFieldsOfATraceAreIgnored() throws {
        let periods = [
            #"{"duration_ms": 1000, "bandwidth_kbps": 300, "cell": "a"},"#, "",
            #"{"bandwidth_kbps": 1.5e3, "duration_ms": 1e9, "latency_ms": null}"#,
        ]
        let trace = try #require(
            try decode("\r\n\r\n[\r\n" + periods.joined(separator: "\r\n") + "\r\n]\r\n\r\n").trace
        )
        #expect(trace.periods.map(\.bandwidth.bitsPerSecond) == [300_000, 1_500_000])
        #expect(trace.periods.map(\.latency) == [.zero, .zero] && trace.duration == .seconds(1_000_001))
    }

    @Test func periodWithoutDurationIsIncomplete() throws {
        let error = #expect(throws: DecodingError.self) { _ = try decode(#"[{"bandwidth_kbps":1}]"#) }
        #expect(String(describing: error).contains("duration_ms"))
    }

    /// A trace whose duration is longer than that of any clock does not trap.
    @Test func longestTraceIsUsable() throws {
        let period = LinkTrace.Period(duration: .seconds(1_000_000_000), bandwidth: BitRate(bitsPerSecond: 0))
        let trace = try #require(LinkTrace(Array(repeating: period, count: 20)))
        #expect(trace.duration == .nanoseconds(Int64.max) && trace.meanBandwidth.bitsPerSecond == 0)
        var link = LinkModel(LinkProfile(name: "t", trace: trace), startingAt: .zero)
        var flow = LinkModel.Flow()
        let transmission = link.send(1_000, .down, of: &flow, at: .zero)
        #expect(transmission == nil)
    }

    @Test(
        arguments: [
            "", "3", "\"3G\"", "[1]", #"{"down":3}"#, #"[{"bandwidth_kbps":1}]x"#, #"[{"duration_ms":1}]"#, "\r\n", "[",
            "null",
            #"[{"duration_ms":1,"bandwidth_kbps":NaN}]"#, #"[{"duration_ms":1,"bandwidth_kbps":1e400}]"#,
            #"[{"duration_ms":1,"bandwidth_kbps":"1"}]"#, "// a comment\n" + #"[{"duration_ms":1,"bandwidth_kbps":1}]"#,
        ]
    )
    func malformedProfileIsRejected(text: String) {
        #expect(throws: (any Error).self) { _ = try decode(text) }
    }

    @Test(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED is not set"))
    func corpusTracesAreParsed() throws {
        let traces = try SharedCorpus.files(below: "abr/traces", extensions: ["json"]).map { file in
            try #require(try JSONDecoder().decode(LinkProfile.self, from: Data(contentsOf: file)).trace)
        }
        #expect(traces.count == 226)
        for trace in traces {
            var link = LinkModel(LinkProfile(name: "t", trace: trace), startingAt: .zero)
            var flow = LinkModel.Flow()
            let seconds = trace.duration / .seconds(1) * 50
            let bytes = Int(Double(trace.meanBandwidth.bitsPerSecond) / 8 * seconds)
            let transmission = try #require(link.send(bytes, .down, of: &flow, at: .zero))
            #expect(abs(transmission.sendEnd / .seconds(seconds) - 1) <= 0.021, "but for what ends a round")
        }
    }
}
