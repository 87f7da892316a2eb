// Code that the check has to report, and code that it must not. The number after `Reported:` is how many findings the
// check must have on the line; lines without one must have none.
import MediaTiming

func planted(double: Double, wide: Int64, word: UInt64, count: Int, byte: UInt8, time: Duration) {
    _ = Int(double)  // Reported: 1
    _ = UInt64(double * 2)  // Reported: 1
    _ = Int64(Float(double))  // Reported: 1
    _ = [double].map(Int64.init)  // Reported: 1
    _ = Int32(wide)  // Reported: 1
    _ = Int(word)  // Reported: 1
    _ = UInt64(count)  // Reported: 1
    _ = wide + 1  // Reported: 1
    _ = wide - wide * 3  // Reported: 2
    _ = word - 1  // Reported: 1
    _ = byte * 85  // Reported: 1
    _ = -wide  // Reported: 1
    _ = wide / Int64(count)  // Reported: 1
    _ = count % count  // Reported: 1
    _ = [wide].reduce(0, +)  // Reported: 1
    var sum = wide
    sum += wide  // Reported: 1
    _ = Int(double)  // Bounded:
    // Bounded: there is nothing here that could trap.
    _ = count + 1

    _ = (Int(saturating: double), Int64(clamping: word), Int(byte), Int64(count), UInt32(byte))
    _ = (wide +| 1, wide -| wide *| 3, wide / 3, 24 * 60, count % 7, time + time * 2, .seconds(double) as Duration)
    _ = wide + 1  // Bounded: an example of a reason.
    // Bounded: an example of a reason for a line.
    _ = Int(double)
    // Bounded: an example of a reason for a block.
    if count > 0 {
        _ = Int(double)
        _ = wide * wide
    }
}
