import Adaptation
import Foundation
import MediaTiming
import Millstream

// The code of the article "Writing a selector".

let item = PlayerItem(url: URL(fileURLWithPath: "/media/film/multivariant.m3u8"))

struct HalfThroughputSelector: VariantSelector {
    private var estimator: ThroughputEstimator

    init(_ initialEstimate: BitRate?) { estimator = ThroughputEstimator(initial: initialEstimate) }

    mutating func add(_ measurement: SegmentMeasurement) { estimator.add(measurement.throughputSample) }

    mutating func decide(_ context: SelectionContext) -> SwitchDecision {
        let limit = (estimator.estimate?.bitsPerSecond ?? 0) / 2
        let rungs = context.ladder.rungs.indices.filter { context.restriction.isAllowed($0) }
        let rung = rungs.last { context.ladder.rungs[$0].expectedBitRate.bitsPerSecond <= limit } ?? rungs.first ?? 0
        let evidence = SwitchDecision.Evidence(throughput: estimator.estimate, bufferLevel: context.bufferLevel)
        return SwitchDecision(rung: rung, cause: .stay, evidence: evidence)
    }

    mutating func review(_ transfer: TransferInFlight, in context: SelectionContext) -> TransferDecision { .wait }

    mutating func resetAfterSeek() {}
}

item.variantSelection = VariantSelection { HalfThroughputSelector($0) }

// The decision for a ladder of three variants on a network of 5 Mbit/s: the variant with 2 Mbit/s.
let bitRates = [600_000, 2_000_000, 4_500_000].map { BitRate(bitsPerSecond: $0) }
var selector = item.variantSelection.makeSelector(initialEstimate: BitRate(bitsPerSecond: 5_000_000))
if let ladder = Ladder(bitRates.map { LadderRung(peakBitRate: $0) }) {
    let decision = selector.decide(SelectionContext(ladder: ladder, segmentDuration: .seconds(6)))
    print("variant \(decision.rung) with \(ladder.rungs[decision.rung].peakBitRate)")
}
