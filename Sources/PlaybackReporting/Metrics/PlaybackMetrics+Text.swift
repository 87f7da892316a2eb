import MediaTiming
import ReportFormat

extension PlaybackMetrics {
    /// The metrics as a JSON object on one line, with fields in a fixed order; `null` for unknown values.
    ///
    /// Durations are in seconds, bit rates in bits per second.
    public var json: String {
        ReportValue.fields([
            "startupTime": .orUnknown(startupTime.map(ReportValue.seconds)),
            "watchedDuration": .seconds(watchedDuration),
            "skippedDuration": .seconds(skippedDuration),
            "skippedSegments": .integer(skippedSegments),
            "stallCount": .integer(stallCount),
            "stallDuration": .seconds(stallDuration),
            "stallsPerHour": .orUnknown(stallsPerHour.map(ReportValue.real)),
            "stallRatio": .orUnknown(stallRatio.map(ReportValue.real)),
            "timeWeightedBitrate": .orUnknown(timeWeightedBitrate.map(ReportValue.bitRate)),
            "timeWeightedBitrateOfAll": .orUnknown(timeWeightedBitrateIncludingUnknown.map(ReportValue.bitRate)),
            "variantSwitches": .integer(variantSwitches),
            "oscillations": .integer(oscillations),
            "droppedFrames": .orUnknown(droppedFrames.map(ReportValue.integer)),
            "decodedFrames": .orUnknown(decodedFrames.map(ReportValue.integer)),
            "discardedFrames": .orUnknown(discardedFrames.map(ReportValue.integer)),
            "bytes": .integer(bytes.bytes),
            "mediaRequests": .integer(mediaRequests),
            "errors": .integer(errors),
            "liveLatency": .orUnknown(liveLatency.map(ReportValue.seconds)),
            "programDateTime": .orUnknown(programDateTime.map(ReportValue.string)),
        ]).json
    }

    /// The metrics as lines for a console, with two fractional digits; unknown values are left out.
    ///
    /// The wording is that of `PerfMeasurements`, for which scripts search. The bit rate is ``timeWeightedBitrate``.
    public var lines: [String] {
        var lines: [String] = []
        if let timeWeightedBitrate {
            let megabits = Double(timeWeightedBitrate.bitsPerSecond) / 1e6
            lines.append("Time-weighted Indicated Bitrate: \(megabits.hundredths)Mbps")
        }
        if let stallsPerHour { lines.append("Stall rate: \(stallsPerHour.hundredths) stalls/hour") }
        if let stallRatio { lines.append("Stall wait ratio: \(stallRatio.hundredths)") }
        return lines
    }
}

extension Double {
    /// The number with two fractional digits, as formatted by `%.2f`, for numbers of 0 or more.
    var hundredths: String {
        guard self >= 0, self < 9e15 else { return self >= 9e15 ? String(self) : "0.00" }
        let whole = Int64(saturating: self)
        let fraction = self - Double(whole)
        let product = fraction * 100
        var parts = Int64(saturating: product.rounded(.toNearestOrEven))
        // The product is already rounded: if it appears to be halfway, the rounding error decides.
        let lost = (-product).addingProduct(fraction, 100)
        if product - product.rounded(.down) == 0.5, lost != 0 {
            parts = Int64(saturating: product.rounded(lost > 0 ? .up : .down))
        }
        return parts == 100 ? "\(whole +| 1).00" : "\(whole).\(parts < 10 ? "0" : "")\(parts)"
    }
}
