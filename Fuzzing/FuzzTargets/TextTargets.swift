import Adaptation
import Foundation
import HLSPlaylist
import MediaTiming
import NetworkConditioning
import PlaybackReporting
import PlaylistEditing
import ReportFormat
import ResourceAddressing

extension FuzzTarget {
    /// The parsers of other text formats.
    static let textTargets = [
        FuzzTarget("access-logs", "access logs in the W3C Extended Log File Format", run: readAccessLog),
        FuzzTarget("error-logs", "error logs in the W3C Extended Log File Format", run: readErrorLog),
        FuzzTarget("conditions", "network conditions and traces", maximumLength: 2_048, run: readConditions),
        FuzzTarget("ladders", "variants with the sizes of their segments", maximumLength: 2_048, run: readLadder),
        FuzzTarget("throughput", "stored throughput estimates", run: readThroughputMemory),
        FuzzTarget(
            "addresses",
            "URLs: parsed and resolved",
            maximumLength: 1_024,
            replayCount: 800,
            run: readAddresses
        ),
        FuzzTarget(
            "numbers",
            "numbers, times, dates and bit rates",
            maximumLength: 256,
            replayCount: 800,
            run: readNumbers
        ),
        FuzzTarget("reports", "reports as JSON", maximumLength: 1_024, run: readReport),
    ]
}

@Sendable private func readAccessLog(_ bytes: [UInt8]) {
    guard let log = try? AccessLog(extendedLogData: bytes.span) else { return }
    check(log.events.count <= bytes.count, "more entries than bytes")
    let written = log.extendedLogData
    guard let again = try? AccessLog(extendedLogData: written.span) else {
        check(false, "a written log cannot be read")
        return
    }
    check(again.events.count == log.events.count, "a written log has other entries")
    check(again.extendedLogData == written, "a log is not written as it was read")
}

@Sendable private func readErrorLog(_ bytes: [UInt8]) {
    guard let log = try? ErrorLog(extendedLogData: bytes.span) else { return }
    check(log.events.count <= bytes.count, "more entries than bytes")
    let written = log.extendedLogData
    guard let again = try? ErrorLog(extendedLogData: written.span) else {
        check(false, "a written log cannot be read")
        return
    }
    check(again.events.count == log.events.count, "a written log has other entries")
    check(again.extendedLogData == written, "a log is not written as it was read")
}

@Sendable private func readConditions(_ bytes: [UInt8]) {
    guard let profile = try? JSONDecoder().decode(LinkProfile.self, from: Data(bytes)) else { return }
    if let data = try? JSONEncoder().encode(profile) {
        check((try? JSONDecoder().decode(LinkProfile.self, from: data)) != nil, "written conditions cannot be read")
    } else {
        check(false, "conditions cannot be written")
    }
    var model = LinkModel(profile, startingAt: .zero)
    var flow = LinkModel.Flow()
    var now = Duration.zero
    for size in [1, 1_500, 1 << 20, 0, Int.max >> 8] {
        for direction in [LinkModel.Direction.down, .up] {
            _ = model.chunkSize(direction, at: now)
            if let count = model.byteCount(direction, in: .seconds(1), at: now) { check(count >= 0, "a negative size") }
            check(model.latency(direction, at: now) >= .zero, "a negative latency")
            guard let transmission = model.send(size, direction, of: &flow, at: now) else { continue }
            check(transmission.arrival >= transmission.sendEnd, "bytes arrive before they are sent")
        }
        now += .seconds(5)
    }
    model.change(to: .init(name: "perfect"), at: now)
}

@Sendable private func readLadder(_ bytes: [UInt8]) {
    guard let ladder = try? JSONDecoder().decode(SizedLadder.self, from: Data(bytes)) else { return }
    check(ladder.sizes.count * ladder.bitRates.count <= bytes.count, "more sizes than bytes")
    check(ladder.bitRates == ladder.bitRates.sorted() && ladder.segmentDuration > .zero, "a ladder is not valid")
    for row in ladder.sizes {
        check(row.count == ladder.bitRates.count && row.allSatisfy { $0 > .zero }, "a segment has no sizes")
    }
}

@Sendable private func readThroughputMemory(_ bytes: [UInt8]) {
    var memory = ThroughputMemory(text: String(decoding: bytes, as: UTF8.self))
    let text = memory.text
    check(ThroughputMemory(text: text).text == text, "a memory is not written as it was read")
    for now in [Duration.zero, .seconds(1_700_000_000), .seconds(Int64.max)] {
        if let estimate = memory.estimate(for: "home", now: now) {
            check(estimate.bitsPerSecond >= 0, "a negative rate")
        }
    }
    memory.store(BitRate(bitsPerSecond: 1_000_000), for: "home", now: .seconds(1_700_000_000))
    check(memory.text.contains("home"), "an estimate is not remembered")
}

@Sendable private func readAddresses(_ bytes: [UInt8]) {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    let address = ResourceAddress(String(lines[0]))
    check(address.text == String(lines[0]), "an address is changed")
    // The components must recompose to the address (RFC 3986 §5.3).
    var text = address.scheme.map { $0 + ":" } ?? ""
    text += address.authority.map { "//" + $0 } ?? ""
    text += address.path + (address.query.map { "?" + $0 } ?? "") + (address.fragment.map { "#" + $0 } ?? "")
    check(text == address.text, "the components are not the address")
    _ = (
        address.host, address.port, address.filePath, address.lastPathComponent, address.isHTTP,
        address.normalizedScheme
    )
    check(address.isInSameFolder(as: address), "an address does not share its own folder")
    let base = ResourceAddress("https://origin.example/a/b/c.m3u8?q#f")
    for line in lines.prefix(8) {
        let resolved = base.resolving(String(line))
        check(resolved.isAbsolute, "a resolved address is relative")
        check(
            address.resolving(String(line)).text.utf8.count <= address.text.utf8.count + line.utf8.count + 8,
            "it grows"
        )
        let decoded = PercentEncoding.decode(String(line))
        if let decoded {
            check(PercentEncoding.decode(PercentEncoding.encode(decoded)) == decoded, "encoding changes text")
        }
    }
}

@Sendable private func readNumbers(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    var times: [MediaTime] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).prefix(8) {
        if let time = MediaTime(decimal: line) { times.append(time) }
        if let time = ClockTime.parse(line) {
            check(time >= .zero, "a negative time")
            times.append(time)
        }
        if let number = Double(line) {
            if let time = MediaTime(approximating: number) { times.append(time) }
        }
        if let rate = BitRate(line) { check(!rate.description.isEmpty, "a rate has no description") }
        if let date = ProgramDateTime(line) {
            check(!date.description.isEmpty, "a date has no description")
            for time in times.prefix(4) {
                check(!date.advanced(by: time).description.isEmpty, "a date has no description")
            }
        }
        if let integer = Int64(line) {
            check(!BitRate(bitsPerSecond: integer).description.isEmpty, "a rate has no description")
            check(!ByteCount(integer).description.isEmpty, "a size has no description")
            times.append(MediaTime(seconds: integer))
            if integer > 0 { times.append(MediaTime(value: 1, timescale: integer)) }
        }
        _ = PartialRange<BitRate>(String(line))
    }
    for first in times.prefix(6) {
        check(!first.description.isEmpty, "a time has no description")
        _ = (first.seconds, first.duration, first.roundedSeconds)
        for second in times.prefix(6) {
            _ = (first + second, first - second, first < second, first * second.value)
            let range = MediaTimeRange(start: first, end: second)
            _ = (range.end, range.isEmpty, range.contains(first), range.description)
        }
    }
}

/// Generates a report from an input and checks that its JSON is valid.
@Sendable private func readReport(_ bytes: [UInt8]) {
    var choices = ChoiceReader(bytes)
    func value(_ depth: Int) -> ReportValue {
        switch choices.number(below: depth < 8 ? 6 : 4) {
        case 0: return .string(choices.text(12))
        case 1: return .integer(Int64(choices.byte()) << 55)
        case 2: return .real(choices.element(of: [0, -0.0, 1e300, .infinity, -.infinity, .nan, 0.1]))
        case 3: return .strings([choices.text(4), choices.text(4)])
        case 4: return .array((0..<choices.number(below: 4)).map { _ in value(depth + 1) })
        default:
            return .object(
                (0..<choices.number(below: 4)).map { .init(name: "\($0)" + choices.text(4), value: value(depth + 1)) }
            )
        }
    }
    let json = ReportValue.array([value(0)]).json
    check((try? JSONSerialization.jsonObject(with: Data(json.utf8))) != nil, "a report is not valid JSON")
}
