import MediaTiming
import StreamingEngine

extension AudioSamples {
    /// Returns the samples with the volumes of an audio mix applied.
    ///
    /// The volume is linear between the turning points of a mix, so it is evaluated only for these intervals.
    func applying(_ mix: AudioMix) -> AudioSamples {
        guard !mix.isEmpty, frameCount > 0 else { return self }
        let range = MediaTimeRange(start: time, duration: duration)
        let boundaries = [time] + mix.slopeChanges(in: range) + [end]
        var samples = samples
        var first = 0
        for (start, boundary) in zip(boundaries, boundaries.dropFirst()) {
            let last = min(
                frameCount,
                max(first, Int(saturating: ((boundary - time).seconds * Double(sampleRate)).rounded()))
            )
            guard last > first else { continue }
            // A volume that is set exactly at the boundary applies only after it, so the end value is extrapolated.
            let middle = MediaTime(approximating: (start.seconds + boundary.seconds) / 2) ?? start
            let (atStart, inMiddle) = (mix.volume(at: start), mix.volume(at: middle))
            let atEnd = 2 * inMiddle - atStart
            if atStart != 1 || atEnd != 1 {
                let step = (atEnd - atStart) / Double(last - first)
                for frame in first..<last {
                    let gain = Float(atStart + step * Double(frame - first))
                    for index in frame * channelCount..<(frame + 1) * channelCount { samples[index] *= gain }
                }
            }
            first = last
        }
        return AudioSamples(time: time, sampleRate: sampleRate, channelCount: channelCount, samples: samples)
    }
}
