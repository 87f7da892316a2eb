import Adaptation
import Foundation
import MediaTiming

/// A segmented video: bit rates, and the size of each segment on each rung.
struct SessionVideo: Sendable {
    private struct File: Decodable {
        let duration: Double
        let kilobitsPerSecond: [Int64]
        let sizes: [[Int64]]

        enum CodingKeys: String, CodingKey {
            case duration = "segment_duration_ms"
            case kilobitsPerSecond = "bitrates_kbps"
            case sizes = "segment_sizes_bits"
        }
    }

    let ladder: Ladder
    let segmentDuration: Double
    /// The sizes in bits, by segment and rung.
    let sizes: [[Double]]

    /// Creates a video whose segment sizes vary randomly by a share of their mean.
    init(megabits: [Double], segmentDuration: Double, segments: Int, spread: Double = 0, seed: UInt64 = 1) throws {
        var generator = SeededGenerator(seed: seed)
        ladder = try Self.ladder(megabits)
        self.segmentDuration = segmentDuration
        sizes = (0..<segments).map { _ in
            let factor = spread > 0 ? Double.random(in: 1 - spread...1 + spread, using: &generator) : 1
            return megabits.map { $0 * 1_000_000 * segmentDuration * factor }
        }
    }

    init(_ url: URL) throws {
        let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
        ladder = try Self.ladder(file.kilobitsPerSecond.map { Double($0) / 1_000 })
        segmentDuration = file.duration / 1_000
        sizes = file.sizes.map { $0.map(Double.init) }
    }

    struct Invalid: Error {}

    private static func ladder(_ megabits: [Double]) throws -> Ladder {
        let rungs = megabits.map { LadderRung(peakBitRate: BitRate(bitsPerSecond: Int64($0 * 1_000_000))) }
        guard let ladder = Ladder(rungs) else { throw Invalid() }
        return ladder
    }

    private init(_ ladder: Ladder, _ segmentDuration: Double, _ sizes: [[Double]]) {
        self.ladder = ladder
        self.segmentDuration = segmentDuration
        self.sizes = sizes
    }

    /// Returns the same video with another segment duration, in seconds.
    func resegmented(_ duration: Double) -> SessionVideo {
        let ratio = duration / segmentDuration
        let count = Int(Double(sizes.count) / ratio)
        let joined = (0..<count).map { index in
            ladder.rungs.indices.map { rung in
                let (start, end) = (Double(index) * ratio, Double(index + 1) * ratio)
                var bits = 0.0
                for old in Int(start)..<min(sizes.count, Int(end.rounded(.up))) {
                    bits += sizes[old][rung] * (min(end, Double(old + 1)) - max(start, Double(old)))
                }
                return bits
            }
        }
        return SessionVideo(ladder, duration, joined)
    }

    func megabits(_ rung: Int) -> Double { Double(ladder.rungs[rung].peakBitRate.bitsPerSecond) / 1_000_000 }
}

/// A simulated session: one segment is transferred at a time, the first at the lowest rung, and latency applies once
/// per request.
struct SessionModel {
    struct Record {
        let time: Double
        let segment: Int
        let decision: SwitchDecision
        let isAbandoned: Bool
        let buffer: Double
    }

    struct Result {
        /// The mean of the linear quality of experience over segments (Yin et al., SIGCOMM 2015), in Mbit/s.
        var quality = 0.0
        var stallSeconds = 0.0
        var stalls = 0
        var playSeconds = 0.0
        var switches = 0
        var abandonments = 0
        var megabits = 0.0
        var startup = 0.0
        var records: [Record] = []
        /// The rungs of the played segments.
        var rungs: [Int] = []

        var stallRatio: Double { playSeconds > 0 ? stallSeconds / playSeconds : 0 }
    }

    let video: SessionVideo
    let trace: BandwidthTrace
    var capacity = 25.0
    var offset = 0.0
    var knowsSizes = false
    /// The interval between reviews of a running transfer, in seconds.
    var reviewInterval = 0.1
    var keepsRecords = false
    /// The maximum number of segments to play.
    var segments = Int.max

    func run(_ selector: inout some VariantSelector) -> Result {
        var result = Result()
        var cursor = TraceCursor(trace, from: offset)
        var buffer = 0.0
        var last: Int?
        var changes = 0.0
        let count = min(segments, video.sizes.count)
        var segment = 0
        while segment < count {
            if segment > 0 { wait(buffer + video.segmentDuration - capacity, &buffer, &cursor, &result) }
            var context = SelectionContext(
                ladder: video.ladder,
                previousRung: last,
                bufferLevel: .seconds(buffer),
                bufferCapacity: .seconds(capacity),
                segmentDuration: .seconds(video.segmentDuration),
                upcomingSizes: knowsSizes ? [video.sizes[segment].map { ByteCount(Int64($0 / 8)) }] : [],
                remainingSegments: count - segment,
                isStarting: segment == 0,
                now: .seconds(cursor.now)
            )
            let decision = selector.decide(context)
            if let delay = decision.delay { wait(min(delay / .seconds(1), buffer), &buffer, &cursor, &result) }

            let rung = decision.rung
            let bits = video.sizes[segment][rung]
            let request = cursor.now
            cursor.wait(cursor.latency)
            let firstByte = cursor.now
            let before = buffer
            var loaded = 0.0
            var isAbandoned = false
            while loaded < bits {
                loaded += cursor.load(bits - loaded, atMost: segment == 0 ? .infinity : reviewInterval)
                guard loaded < bits else { break }
                context.bufferLevel = .seconds(max(0, before - (cursor.now - request)))
                context.now = .seconds(cursor.now)
                let transfer = TransferInFlight(
                    rung: rung,
                    bytesReceived: ByteCount(Int64(loaded / 8)),
                    expectedSize: ByteCount(Int64(bits / 8)),
                    request: .seconds(request),
                    firstByte: .seconds(firstByte),
                    now: .seconds(cursor.now)
                )
                if case .abandon = selector.review(transfer, in: context) {
                    isAbandoned = true
                    break
                }
            }
            let elapsed = cursor.now - request
            if segment > 0 {
                if elapsed > buffer {
                    result.stallSeconds += elapsed - buffer
                    result.stalls += 1
                }
                result.playSeconds += elapsed
            } else {
                result.startup = elapsed
            }
            buffer = max(0, buffer - elapsed)
            selector.add(
                SegmentMeasurement(
                    rung: rung,
                    bytes: ByteCount(Int64(loaded / 8)),
                    duration: .seconds(video.segmentDuration),
                    request: .seconds(request),
                    firstByte: .seconds(firstByte),
                    end: .seconds(cursor.now),
                    isAbandoned: isAbandoned
                )
            )
            if keepsRecords {
                let record = Record(
                    time: cursor.now,
                    segment: segment,
                    decision: decision,
                    isAbandoned: isAbandoned,
                    buffer: buffer
                )
                result.records.append(record)
            }
            if isAbandoned {
                result.abandonments += 1
                continue
            }
            buffer += video.segmentDuration
            result.megabits += video.megabits(rung)
            if let last, last != rung {
                result.switches += 1
                changes += abs(video.megabits(rung) - video.megabits(last))
            }
            result.rungs.append(rung)
            last = rung
            segment += 1
        }
        result.playSeconds += buffer
        let stallCost = video.megabits(video.ladder.highest) * result.stallSeconds
        result.quality = (result.megabits - changes - stallCost) / Double(max(1, count))
        result.megabits /= Double(max(1, count))
        return result
    }

    private func wait(_ seconds: Double, _ buffer: inout Double, _ cursor: inout TraceCursor, _ result: inout Result) {
        guard seconds > 0 else { return }
        cursor.wait(seconds)
        buffer -= seconds
        result.playSeconds += seconds
    }
}
