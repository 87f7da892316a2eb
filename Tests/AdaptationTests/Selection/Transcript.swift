import Foundation
import MediaTiming
import Testing

@testable import Adaptation

/// Compares lines of results with reviewed transcripts.
///
/// All arithmetic of the target yields the same digits on every platform, so the lines contain all digits. After an
/// intended change, `MILLSTREAM_RECORD_TRANSCRIPTS=1` rewrites the files.
enum Transcript {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Transcripts")

    /// Records an issue for the first line that differs from the recorded one.
    static func compare(_ lines: [String], _ name: String) throws {
        let file = folder.appendingPathComponent("\(name).txt")
        let text = lines.joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["MILLSTREAM_RECORD_TRANSCRIPTS"] == "1" {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        let known = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(known.count == lines.count)
        for (number, (line, reviewed)) in zip(lines, known).enumerated() where line != reviewed {
            Issue.record("\(name), line \(number + 1): \(line), and \(reviewed) before")
            return
        }
    }

    /// Returns a duration as text, in seconds.
    static func seconds(_ duration: Duration) -> String { "\(duration.clampedSeconds)" }

    /// Returns a decision with all its values.
    static func line(_ decision: SwitchDecision) -> String {
        [
            "\(decision.rung)", decision.cause.rawValue, decision.delay.map { seconds($0) } ?? "-",
            decision.evidence.throughput.map { "\($0.bitsPerSecond)" } ?? "-",
            decision.evidence.cautiousThroughput.map { "\($0.bitsPerSecond)" } ?? "-",
            seconds(decision.evidence.bufferLevel),
            decision.evidence.predictedBufferLevel.map { seconds($0) } ?? "-",
            decision.evidence.stallProbability.map { "\($0)" } ?? "-",
        ].joined(separator: " ")
    }

    /// Returns numbers as text with all their digits, separated by spaces.
    static func numbers(_ values: some Sequence<Double>) -> String { values.map { "\($0)" }.joined(separator: " ") }
}

/// A random number generator that returns the same sequence for the same seed.
struct RepeatableNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns a number from 0 up to, but not including, 1.
    mutating func unit() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }
    mutating func pick<Element>(_ list: [Element]) -> Element { list[Int(next() % UInt64(list.count))] }
}
