import Adaptation
import Foundation
import MediaTiming
import MillstreamTesting
import NetworkConditioning
import ResourceAddressing
import Testing

@testable import MediaTransport

@Suite struct ThroughputStoreTests {
    @Test func estimatesArePersistent() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = ThroughputStore(path: folder.appendingPathComponent("a/throughput").path)
        var memory = store.load()
        #expect(memory == ThroughputMemory())
        memory.store(BitRate(bitsPerSecond: 5_000_000), for: "wlan0 10.0.0.1", now: .seconds(1_000_000))
        try store.save(memory)
        #expect(store.load().estimate(for: "wlan0 10.0.0.1", now: .seconds(1_000_100))?.bitsPerSecond == 5_000_000)
    }

    @Test func writeFailureIsAnError() {
        let error = #expect(throws: TransportError.self) {
            try ThroughputStore(path: "/proc/none/throughput").save(ThroughputMemory())
        }
        #expect(error?.code == .fileFailed)
    }

    @Test func networkIsIdentifiedByItsGateway() {
        let routes = """
            Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
            eth0\t0000FEA9\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
            wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
            """
        let neighbors = """
            IP address       HW type     Flags       HW address            Mask     Device
            192.168.1.1      0x1         0x2         00:11:22:33:44:55     *        wlan0
            """
        #expect(NetworkIdentity.name(routes: routes, neighbors: neighbors) == "wlan0 192.168.1.1 00:11:22:33:44:55")
        #expect(NetworkIdentity.name(routes: routes, neighbors: "") == "wlan0 192.168.1.1")
        #expect(NetworkIdentity.name(routes: "Iface\nx", neighbors: "") == nil)
    }

    @Test(
        arguments: [
            ("wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000", "wlan0 192.168.1.1"),
            ("wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600", nil),
            ("wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t000000FF", nil),
            ("wlan0\t0000A8C0\t0101A8C0\t0003\t0\t0\t600\t00000000", nil),
            ("wlan0\t00000000\tnone\t0003\t0\t0\t600\t00000000", nil),
        ] as [(String, String?)]
    )
    func onlyCompleteDefaultRoutesIdentifyANetwork(route: String, name: String?) {
        #expect(NetworkIdentity.name(routes: "Iface\tDestination\n" + route, neighbors: "") == name)
        // The first line is the head of the table.
        #expect(NetworkIdentity.name(routes: route, neighbors: "") == nil)
    }

    @Test func hardwareAddressIsThatOfTheGateway() {
        let routes = "Iface\nwlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000"
        let neighbors = """
            192.168.1.2 0x1 0x2 00:22
            192.168.1.1 0x1 0x2
            192.168.1.1 0x1 0x2 00:11
            """
        #expect(NetworkIdentity.name(routes: routes, neighbors: neighbors) == "wlan0 192.168.1.1 00:11")
    }

    @Test func sampleIsTheTimeFromTheFirstToTheLastByte() throws {
        var measurement = TransferMeasurement(requestStart: .seconds(10), isFromCache: true)
        measurement.bytes = ByteCount(7)
        measurement.timeToLastByte = .seconds(5)
        #expect(ThroughputSample(measurement) == nil)
        measurement.timeToFirstByte = .seconds(2)
        let sample = try #require(ThroughputSample(measurement))
        #expect(sample.start == .seconds(12) && sample.end == .seconds(15) && sample.latency == .seconds(2))
        #expect(sample.bytes == ByteCount(7) && sample.isCached)
        measurement.timeToLastByte = .seconds(1)
        #expect(ThroughputSample(measurement)?.end == .seconds(12))
    }

    @Test func fileOfMoreThan64KiBIsReadUpToThere() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("throughput").path
        var memory = ThroughputMemory()
        memory.store(BitRate(bitsPerSecond: 5_000_000), for: "wlan0", now: .seconds(1_000_000))
        try ThroughputStore(path: path).save(memory)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text == memory.text)
        let late = text + String(repeating: "\n", count: 64 << 10) + "eth0\t1000000\t1000000\n"
        try late.write(toFile: path, atomically: false, encoding: .utf8)
        #expect(ThroughputMemory(text: late) != memory)
        #expect(ThroughputStore(path: path).load() == memory)
    }

    /// Over a link of a known rate, the transport measures that rate, and the latency separately.
    @Test func throughputEstimateMatchesTheRateOfTheLink() async throws {
        let time = Simulation()
        let estimator = try await time.run {
            let way = LinkProfile.DirectionConditions(
                bandwidth: BitRate(bitsPerSecond: 3_000_000),
                latency: .milliseconds(150)
            )
            let link = ConditionedLink(LinkProfile(name: "t", down: way, up: way), time: time)
            let script = ScriptedTransport(["http://h/a": [.bytes([UInt8](repeating: 1, count: 400_000))]], time: time)
            let transport = ConditionedTransport(script, over: link)
            var estimator = ThroughputEstimator()
            for _ in 0..<10 {
                let response = try await transport.send(TransportRequest(ResourceAddress("http://h/a"), kind: .segment))
                #expect(ThroughputSample(response.record.measurement) == nil)
                for try await _ in response.body {}
                estimator.add(try #require(ThroughputSample(response.record.measurement)))
            }
            return estimator
        }
        let estimate = try #require(estimator.estimate).bitsPerSecond
        #expect(abs(Double(estimate) / 3_000_000 - 1) < 0.02)
        #expect((.milliseconds(299)...(.milliseconds(301))).contains(estimator.latency ?? .zero))
    }
}
