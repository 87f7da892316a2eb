import MediaTiming

/// The IANA registries of special-purpose addresses, used to determine whether a numeric address is public.
///
/// The registries are those of RFC 6890 with the entries that were added since. A block that IANA lists as globally
/// reachable but that serves no media, such as anycast relays, counts as special-purpose too.
enum AddressRegistry {
    /// A block of addresses.
    private struct Block {
        let prefix: [UInt8]
        let length: Int

        func contains(_ octets: [UInt8]) -> Bool {
            let (bytes, bits) = (length / 8, length % 8)
            guard octets.prefix(bytes).elementsEqual(prefix.prefix(bytes)) else { return false }
            guard bits > 0 else { return true }
            let mask = ~(UInt8.max >> UInt8(clamping: bits))
            return octets[bytes] & mask == prefix[bytes] & mask
        }
    }

    /// The special-purpose blocks of IPv4.
    private static let special4: [Block] = [
        Block(prefix: [0], length: 8),  // this network, RFC 791
        Block(prefix: [10], length: 8),  // private use, RFC 1918
        Block(prefix: [100, 64], length: 10),  // shared address space, RFC 6598
        Block(prefix: [127], length: 8),  // loopback, RFC 1122
        Block(prefix: [168, 63, 129, 16], length: 32),  // the virtual machine host of Azure
        Block(prefix: [169, 254], length: 16),  // link local, RFC 3927
        Block(prefix: [172, 16], length: 12),  // private use, RFC 1918
        Block(prefix: [192, 0, 0], length: 24),  // IETF protocol assignments, RFC 6890
        Block(prefix: [192, 0, 2], length: 24),  // documentation, RFC 5737
        Block(prefix: [192, 31, 196], length: 24),  // AS112, RFC 7535
        Block(prefix: [192, 52, 193], length: 24),  // automatic multicast tunneling, RFC 7450
        Block(prefix: [192, 88, 99], length: 24),  // 6to4 relays, RFC 7526
        Block(prefix: [192, 168], length: 16),  // private use, RFC 1918
        Block(prefix: [192, 175, 48], length: 24),  // AS112, RFC 7534
        Block(prefix: [198, 18], length: 15),  // benchmarking, RFC 2544
        Block(prefix: [198, 51, 100], length: 24),  // documentation, RFC 5737
        Block(prefix: [203, 0, 113], length: 24),  // documentation, RFC 5737
        Block(prefix: [224], length: 4),  // multicast, RFC 5771
        Block(prefix: [240], length: 4),  // reserved, RFC 1112, and limited broadcast, RFC 919
    ]

    /// The special-purpose blocks inside 2000::/3, the only part of IPv6 that is assigned to networks.
    private static let special6: [Block] = [
        Block(prefix: [0x20, 0x01, 0x00], length: 23),  // protocol assignments, RFC 2928: Teredo, ORCHID
        Block(prefix: [0x20, 0x01, 0x0D, 0xB8], length: 32),  // documentation, RFC 3849
        Block(prefix: [0x26, 0x20, 0x00, 0x4F, 0x80, 0x00], length: 48),  // AS112, RFC 7534
        Block(prefix: [0x3F, 0xFF, 0x00], length: 20),  // documentation, RFC 9637
    ]

    private static let globalUnicast = Block(prefix: [0x20], length: 3)
    private static let mapped = Block(prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], length: 96)
    private static let translated = Block(prefix: [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0], length: 96)
    private static let sixToFour = Block(prefix: [0x20, 0x02], length: 16)

    /// Returns whether an address is reachable through the public Internet.
    ///
    /// An IPv4 address inside an IPv6 address is checked too: mapped addresses (RFC 4291 §2.5.5.2), the well-known
    /// prefix of NAT64 (RFC 6052), 6to4 (RFC 3056) and ISATAP (RFC 5214).
    ///
    /// - Parameter octets: The address in network byte order: 4 or 16 bytes; any other count is not public.
    /// - Returns: `true` if the address is public.
    static func isPublic(_ octets: [UInt8]) -> Bool {
        if octets.count == 4 { return !special4.contains { $0.contains(octets) } }
        guard octets.count == 16 else { return false }
        if mapped.contains(octets) || translated.contains(octets) { return isPublic(Array(octets[12...])) }
        guard globalUnicast.contains(octets), !special6.contains(where: { $0.contains(octets) }) else { return false }
        if sixToFour.contains(octets), !isPublic(Array(octets[2..<6])) { return false }
        // An interface identifier of ISATAP: 0000:5EFE or 0200:5EFE and an IPv4 address.
        if octets[8] & 0xFD == 0, octets[9...11].elementsEqual([0x00, 0x5E, 0xFE]) {
            return isPublic(Array(octets[12...]))
        }
        return true
    }
}
