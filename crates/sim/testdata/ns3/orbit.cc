// TCP between places over satellites at rest, packet by packet in ns-3.
//
// Reads the network from a file that `python -m tools.ns3_orbit network` writes, with a line for each link (two nodes, of each
// direction the rate in bit/s and the limit of the queue in packets, the delay in ns), route (node, destination, next node) and
// flow (source, destination). Prints the goodput of each flow in bit/s, one a line; on standard error what the run took.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <vector>

using namespace ns3;

namespace
{

struct Link
{
    uint32_t ends[2];
    uint64_t rates[2];
    uint32_t limits[2];
    int64_t delayNs;
};

struct Route
{
    uint32_t node;
    uint32_t destination;
    uint32_t next;
};

struct Network
{
    uint32_t nodes = 0;
    std::vector<Link> links;
    std::vector<Route> routes;
    std::vector<std::pair<uint32_t, uint32_t>> flows;
};

Network
Read(const std::string& name)
{
    Network network;
    std::ifstream file(name);
    NS_ABORT_MSG_IF(!file, "cannot read " << name);
    std::string line;
    while (std::getline(file, line))
    {
        std::istringstream words(line);
        std::string kind;
        words >> kind;
        if (kind == "link")
        {
            Link link;
            words >> link.ends[0] >> link.ends[1];
            words >> link.rates[0] >> link.limits[0] >> link.rates[1] >> link.limits[1] >> link.delayNs;
            network.nodes = std::max({network.nodes, link.ends[0] + 1, link.ends[1] + 1});
            network.links.push_back(link);
        }
        else if (kind == "route")
        {
            Route route;
            words >> route.node >> route.destination >> route.next;
            network.routes.push_back(route);
        }
        else if (kind == "flow")
        {
            uint32_t source = 0;
            uint32_t destination = 0;
            words >> source >> destination;
            network.flows.emplace_back(source, destination);
        }
        else
        {
            NS_ABORT_MSG("unknown line: " << line);
        }
        NS_ABORT_MSG_IF(!words, "too short: " << line);
    }
    return network;
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string file;
    double seconds = 20;
    double warmUp = 0;
    uint32_t segment = 1380;
    std::string algorithm = "TcpLinuxReno";
    CommandLine cmd;
    cmd.AddValue("network", "file with the network", file);
    cmd.AddValue("seconds", "when the run ends", seconds);
    cmd.AddValue("warmUp", "when measuring begins", warmUp);
    cmd.AddValue("segment", "bytes of a segment", segment);
    cmd.AddValue("algorithm", "TypeId of the congestion control, without ns3::", algorithm);
    cmd.Parse(argc, argv);
    const Network network = Read(file);

    const uint32_t buffer = 256 << 20;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + algorithm)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::TcpPrrRecovery")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));

    NodeContainer nodes;
    nodes.Create(network.nodes);
    Ipv4StaticRoutingHelper routing;
    InternetStackHelper stack;
    stack.SetRoutingHelper(routing);
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);

    PointToPointHelper helper;
    // Nothing above the device may hold packets back: without flow control, no queue discipline is installed.
    helper.DisableFlowControl();
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    // The interface of a node towards another, and the first address of each node.
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> towards;
    std::map<uint32_t, Ipv4Address> addressOf;
    for (const Link& link : network.links)
    {
        helper.SetChannelAttribute("Delay", TimeValue(NanoSeconds(link.delayNs)));
        const NetDeviceContainer devices = helper.Install(nodes.Get(link.ends[0]), nodes.Get(link.ends[1]));
        const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        addresses.NewNetwork();
        for (uint32_t end = 0; end < 2; ++end)
        {
            const auto device = DynamicCast<PointToPointNetDevice>(devices.Get(end));
            device->SetDataRate(DataRate(link.rates[end]));
            device->GetQueue()->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, link.limits[end]));
            towards[{link.ends[end], link.ends[1 - end]}] = interfaces.Get(end).second;
            addressOf.emplace(link.ends[end], interfaces.GetAddress(end));
        }
    }
    for (const Route& route : network.routes)
    {
        const Ptr<Ipv4> ipv4 = nodes.Get(route.node)->GetObject<Ipv4>();
        const uint32_t interface = towards.at({route.node, route.next});
        routing.GetStaticRouting(ipv4)->AddHostRouteTo(addressOf.at(route.destination), interface);
    }

    const uint16_t first = 5000;
    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t number = 0; number < network.flows.size(); ++number)
    {
        const auto [source, destination] = network.flows[number];
        const uint16_t port = first + number;
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(addressOf.at(destination), port));
        bulk.SetAttribute("SendSize", UintegerValue(64 * 1024));
        bulk.Install(nodes.Get(source)).Start(Seconds(0));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        ApplicationContainer installed = sink.Install(nodes.Get(destination));
        installed.Start(Seconds(0));
        sinks.push_back(DynamicCast<PacketSink>(installed.Get(0)));
    }
    std::vector<uint64_t> before(sinks.size(), 0);
    Simulator::Schedule(Seconds(warmUp), [&]() {
        for (uint32_t number = 0; number < sinks.size(); ++number)
        {
            before[number] = sinks[number]->GetTotalRx();
        }
    });

    const std::clock_t began = std::clock();
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    const double spent = double(std::clock() - began) / CLOCKS_PER_SEC;
    std::fprintf(stderr, "%.2f s of the processor, %lu events\n", spent, (unsigned long)Simulator::GetEventCount());
    for (uint32_t number = 0; number < sinks.size(); ++number)
    {
        std::printf("%.0f\n", (sinks[number]->GetTotalRx() - before[number]) * 8 / (seconds - warmUp));
    }
    Simulator::Destroy();
    return 0;
}
